# SPDX-License-Identifier: MIT
"""The classes that programs annotate with."""

from __future__ import annotations

import logging

from dftracer.python import common
from dftracer.python.common import *  # noqa: F403
from dftracer.python.env import setup_stream_logger

__all__ = [*common.__all__, "logger"]

logger: logging.Logger = setup_stream_logger()

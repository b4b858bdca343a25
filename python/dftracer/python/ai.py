# SPDX-License-Identifier: MIT
"""The names that AI programs share."""

from __future__ import annotations

from dftracer.python import ai_common, ai_init
from dftracer.python.ai_common import *  # noqa: F403
from dftracer.python.ai_init import *  # noqa: F403

__all__ = sorted({*ai_common.__all__, *ai_init.__all__})

# SPDX-License-Identifier: MIT
"""What the variables say."""

from __future__ import annotations

import logging
import os

from dftracer._library import native

__all__ = [
    "DFTRACER_ENABLE",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_ENV",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV",
    "DFTRACER_TIME_METRIC_ENV",
    "setup_stream_logger",
]

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"
DFTRACER_TIME_METRIC_ENV = "DFTRACER_TIME_METRIC"

DFTRACER_ENABLE = native is not None
DFTRACER_INIT_PRELOAD = os.environ.get(DFTRACER_INIT_ENV, "PRELOAD").upper() == "PRELOAD"
DFTRACER_LOG_LEVEL = os.environ.get(DFTRACER_LOG_LEVEL_ENV, "ERROR")


def log_level() -> int:
    known = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING}
    return known.get(DFTRACER_LOG_LEVEL, logging.ERROR)


def setup_stream_logger() -> logging.Logger:
    """The logger that programs and the packages talk to. It gets no handler of ours: Python's last one does."""
    logger = logging.getLogger("DFTRACER")
    logger.setLevel(log_level())
    return logger

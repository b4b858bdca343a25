# SPDX-License-Identifier: MIT
"""The native module of DFTracer 1.x, which frameworks call themselves."""

from __future__ import annotations

import dftracer.dftracer as _native
from dftracer.dftracer import enter_event, exit_event, finalize, get_time, log_event, log_metadata_event

__all__ = ["enter_event", "exit_event", "finalize", "get_time", "initialize", "log_event", "log_metadata_event"]


def initialize(log_file: str | None = None, data_dirs: str | None = None, process_id: int = -1) -> None:
    """Recording begins."""
    _native.begin(log_file, data_dirs, process_id, 1)

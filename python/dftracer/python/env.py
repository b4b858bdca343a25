# SPDX-License-Identifier: MIT
"""What the variables say."""

from __future__ import annotations

import os

from dftracer._library import native

DFTRACER_ENABLE = native is not None
DFTRACER_INIT_PRELOAD = os.environ.get("DFTRACER_INIT", "").upper() == "PRELOAD"
DFTRACER_LOG_LEVEL = os.environ.get("DFTRACER_LOG_LEVEL", "ERROR")

# SPDX-License-Identifier: MIT
"""What the tree of names for AI programs is made of."""

from __future__ import annotations

from dftracer import _names
from dftracer._ai import (
    AI,
    IO,
    Checkpoint,
    Communication,
    Compute,
    Data,
    DataLoader,
    Device,
    Other,
    Pipeline,
)
from dftracer._ai import Node as DFTracerAI
from dftracer._names import *  # noqa: F403
from dftracer.python import common
from dftracer.python.common import *  # noqa: F403

__all__ = [
    *common.__all__,
    *(name for name in vars(_names) if not name.startswith("_") and name not in ("Enum", "annotations")),
    "AI",
    "DFTracerAI",
    "IO",
    "Checkpoint",
    "Communication",
    "Compute",
    "Data",
    "DataLoader",
    "Device",
    "Other",
    "Pipeline",
]

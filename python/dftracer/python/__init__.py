# SPDX-License-Identifier: MIT
"""DFTracer 2.x: `from dftracer.python import dftracer, dft_fn, ai`."""

from __future__ import annotations

from dftracer.python.ai import ai, checkpoint, comm, compute, data, dataloader, device, pipeline
from dftracer.python.common import TagDType, TagType, TagValue, get_time_scale
from dftracer.python.dynamo import Dynamo, create_backend, dynamo
from dftracer.python.env import DFTRACER_ENABLE
from dftracer.python.logger import dft_fn, dftracer

__all__ = [
    "DFTRACER_ENABLE",
    "Dynamo",
    "TagDType",
    "TagType",
    "TagValue",
    "ai",
    "checkpoint",
    "comm",
    "compute",
    "create_backend",
    "data",
    "dataloader",
    "device",
    "dft_fn",
    "dftracer",
    "dynamo",
    "get_time_scale",
    "pipeline",
]

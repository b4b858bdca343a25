# SPDX-License-Identifier: MIT
"""The names that AI programs share."""

from __future__ import annotations

from dftracer._ai import Node as DFTracerAI
from dftracer._ai import tree

__all__ = ["DFTracerAI", "ai", "checkpoint", "comm", "compute", "data", "dataloader", "device", "pipeline"]

ai = tree()
checkpoint = ai.checkpoint
comm = ai.comm
compute = ai.compute
data = ai.data
dataloader = ai.dataloader
device = ai.device
pipeline = ai.pipeline

# SPDX-License-Identifier: MIT
"""The one tree of this process, and its branches."""

from __future__ import annotations

from dftracer.python.ai_common import (
    AI,
    INIT_NAME,
    ITER_COUNT_NAME,
    CheckpointEvent,
    CommunicationEvent,
    ComputeEvent,
    DataEvent,
    DataLoaderEvent,
    DeviceEvent,
    IOEvent,
    PipelineEvent,
    ProfileCategory,
    get_iter_block_name,
    get_iter_handle_name,
)

__all__ = [
    "INIT_NAME",
    "ITER_COUNT_NAME",
    "CheckpointEvent",
    "CommunicationEvent",
    "ComputeEvent",
    "DataEvent",
    "DataLoaderEvent",
    "DeviceEvent",
    "IOEvent",
    "PipelineEvent",
    "ProfileCategory",
    "ai",
    "checkpoint",
    "comm",
    "compute",
    "data",
    "dataloader",
    "device",
    "get_iter_block_name",
    "get_iter_handle_name",
    "pipeline",
]

ai = AI()
checkpoint = ai.checkpoint
comm = ai.comm
compute = ai.compute
data = ai.data
dataloader = ai.dataloader
device = ai.device
pipeline = ai.pipeline

# SPDX-License-Identifier: MIT
"""The words of DFTracer's tree for AI programs: categories, names of events, and what names of loops are made of."""

from __future__ import annotations

from enum import Enum


class StringEnum(str, Enum):
    """Its members are texts and look like them."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, how: str) -> str:
        return format(str(self.value), how)


INIT_NAME = "init"
BLOCK_NAME = "block"
ITER_NAME = "iter"
ITER_COUNT_NAME = "count"
CTX_SEPARATOR = "."
ROOT_NAME = ROOT_CAT = "ai_root"
START_METADATA_NAME = "start"
STOP_METADATA_NAME = "end"


class ProfileCategory(StringEnum):
    COMPUTE = "compute"
    DATA = "data"
    DATALOADER = "dataloader"
    COMM = "comm"
    DEVICE = "device"
    CHECKPOINT = "checkpoint"
    PIPELINE = "pipeline"
    OTHER = "other"


class ComputeEvent(StringEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    STEP = "step"


class DataEvent(StringEnum):
    PREPROCESS = "preprocess"
    ITEM = "item"


class DataLoaderEvent(StringEnum):
    FETCH = "fetch"


class CommunicationEvent(StringEnum):
    SEND = "send"
    RECEIVE = "receive"
    BARRIER = "barrier"
    BCAST = "bcast"
    REDUCE = "reduce"
    ALL_REDUCE = "all_reduce"
    GATHER = "gather"
    ALL_GATHER = "all_gather"
    SCATTER = "scatter"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"


class DeviceEvent(StringEnum):
    TRANSFER = "transfer"


class CheckpointEvent(StringEnum):
    CAPTURE = "capture"
    RESTART = "restart"


class PipelineEvent(StringEnum):
    EPOCH = "epoch"
    TRAIN = "train"
    EVALUATE = "evaluate"
    TEST = "test"


class OtherEvent(StringEnum):
    LOG = "log"


class IOEvent(StringEnum):
    OPEN = "open"
    READ = "read"
    WRITE = "write"
    CLOSE = "close"


def _ending(name: str, word: str) -> str:
    end = CTX_SEPARATOR + word
    return name if name.endswith(end) else name + end


def get_iter_block_name(name: str) -> str:
    """What the body of a loop is called."""
    return _ending(name, BLOCK_NAME)


def get_iter_handle_name(name: str) -> str:
    """What the wait for its next item is called."""
    return _ending(name, ITER_NAME)

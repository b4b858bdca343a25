# SPDX-License-Identifier: MIT
"""Tags: what an argument is, and what its role is where events are summed up."""

from __future__ import annotations

from enum import Enum
from typing import Any

from dftracer._library import native
from dftracer.python.env import DFTRACER_ENABLE
from dftracer.python.logger import dft_fn, dftracer

__all__ = ["DFTRACER_ENABLE", "TagDType", "TagType", "TagValue", "dft_fn", "dftracer", "get_time_scale"]


class TagType(Enum):
    KEY = 0
    VALUE = 1
    IGNORE = 2

    def __int__(self) -> int:
        return int(self.value)


class TagDType(Enum):
    INT = 0
    FLOAT = 1
    STRING = 2

    def __int__(self) -> int:
        return int(self.value)


_MADE_BY = {TagDType.INT: int, TagDType.FLOAT: float, TagDType.STRING: str}


class TagValue:
    def __init__(self, value: Any, dtype: TagDType = TagDType.STRING, tag_type: TagType = TagType.KEY) -> None:
        self._tag_type = tag_type
        self._value = _MADE_BY[dtype](value)

    def value(self) -> tuple[int, int | float | str]:
        return int(self._tag_type), self._value


def get_time_scale() -> float:
    """Units of `get_time` in a second."""
    metric = native.get_config("DFTRACER_TIME_METRIC") if native is not None else "US"
    return {"NS": 1e9, "MS": 1e3, "SEC": 1.0}.get(metric, 1e6)

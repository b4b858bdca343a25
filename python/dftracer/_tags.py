# SPDX-License-Identifier: MIT
"""Tags: what an argument is, and what its role is where events are summed up."""

from __future__ import annotations

from enum import Enum
from typing import Any, Tuple, Union

TagValueTuple = Tuple[int, Union[int, float, str]]


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
        self._dtype = dtype
        self._tag_type = tag_type
        self._value = _MADE_BY[dtype](value)

    def value(self) -> TagValueTuple:
        return int(self._tag_type), self._value


def _kind(key: str, value: Any) -> TagDType:
    if isinstance(value, TagValue):
        return value._dtype
    if key == "image_size" or isinstance(value, float):
        return TagDType.FLOAT
    return TagDType.INT if isinstance(value, int) else TagDType.STRING


class Tagged:
    """An annotation's arguments by their kinds, as programs of DFTracer look at them."""

    _arguments: dict[str, Any]

    def _of_kind(self, kind: TagDType) -> dict[str, TagValueTuple]:
        found = {}
        for key, value in self._arguments.items():
            if _kind(key, value) is kind:
                found[key] = (value if isinstance(value, TagValue) else TagValue(value, kind)).value()
        return found

    @property
    def _arguments_int(self) -> dict[str, TagValueTuple]:
        return self._of_kind(TagDType.INT)

    @property
    def _arguments_float(self) -> dict[str, TagValueTuple]:
        return self._of_kind(TagDType.FLOAT)

    @property
    def _arguments_string(self) -> dict[str, TagValueTuple]:
        return self._of_kind(TagDType.STRING)

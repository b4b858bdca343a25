# SPDX-License-Identifier: MIT
"""An Arrow stream in a PyCapsule, by which packages hand tables to each other (Arrow's PyCapsule interface)."""

from __future__ import annotations

import ctypes
from typing import Any

from fathom._native import ArrowStream

_NAME = b"arrow_array_stream"
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_alive: dict[int, ArrowStream] = {}  # the streams that capsules point at

# By addresses: a capsule that is being freed must not be handed to Python as an object again.
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def _end(capsule: int) -> None:
    stream = _alive.pop(_pointer(capsule, _NAME), None)
    if stream is not None:
        stream.end()  # unless whoever took it has done so


_destructor = _Destructor(_end)


def stream_capsule(stream: ArrowStream) -> Any:
    address = ctypes.addressof(stream)
    _alive[address] = stream
    return _new(address, _NAME, _destructor)

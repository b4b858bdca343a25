# SPDX-License-Identifier: MIT
"""The daemon `fathom watch` (docs/watch.md), as a program turns to it."""

from __future__ import annotations

from fathom._error import Error
from fathom._places import find


def _call(name: str) -> bool:
    """By the library that is in the process, or by the one beside the package."""
    import ctypes

    function = getattr(ctypes.CDLL(None), name, None)
    if function is None:
        try:
            function = getattr(ctypes.CDLL(find("libfathom.so")), name)
        except (Error, OSError):
            return False  # a program is not stopped for that; `fathom doctor` tells what is missing
    return int(function()) == 0


def connect() -> bool:
    """The daemon records this process from now on, all its threads and whatever it makes; whether it does."""
    return _call("fathom_connect")


def disconnect() -> bool:
    """The daemon does not record this process any more; whether one answered."""
    return _call("fathom_disconnect")

# SPDX-License-Identifier: MIT
"""Whether DFTracer's variables ask for anything, and the library that does it."""

from __future__ import annotations

import os
from typing import Any

_OFF = ("0", "false", "off", "no")


def asked() -> bool:
    """Whether a look into the library is worth its time: nothing is loaded into a program that asks for nothing.

    A recording takes annotations whatever DFTracer's variables say: they are about its own files.
    """
    if os.environ.get("FATHOM_OUT"):
        return True
    word = os.environ.get("DFTRACER_ENABLE", "")
    if word:
        return word.lower() not in _OFF  # the library says so where it is no word at all
    return bool(os.environ.get("DFTRACER_CONFIGURATION"))


def load() -> bool:
    """Brings libfathom.so into the process, unless it was preloaded. Whether it is there."""
    from fathom import Error
    from fathom._places import find
    from fathom.annotate import _record

    try:
        return bool(_record.is_bound() or _record.load(find("libfathom.so")))
    except Error:
        return False


def _native() -> Any:
    if not asked():
        return None
    try:
        import dftracer.dftracer as native
    except ImportError:  # not built for this Python
        return None
    return native if native.enabled() else None


native = _native()  # None: nothing is recorded, and everything costs next to nothing
takes_args = native is not None and native.takes_args()

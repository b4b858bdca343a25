# SPDX-License-Identifier: MIT
"""What a program tells about itself: decorated functions, blocks, loops, counters, moments.

It is recorded under `fathom run`, or where FATHOM_OUT names a recording; else it costs nothing that can be measured:
`trace` then gives back what it was given.
"""

from __future__ import annotations

import os
import types
from typing import TYPE_CHECKING, Any, Callable, TypeVar, overload

from fathom._error import Error

if TYPE_CHECKING:
    from fathom import _record
else:
    try:
        import fathom._record as _record
    except ModuleNotFoundError:
        import fathom._off as _record

__all__ = ["arg", "counter", "instant", "iter", "metadata", "region", "trace"]

_Traced = TypeVar("_Traced")

arg = _record.arg
counter = _record.counter
instant = _record.instant
iter = _record.iter
metadata = _record.metadata
region = _record.region


@overload
def trace(what: _Traced, /) -> _Traced: ...
@overload
def trace(*, name: str | None = None, category: str | None = None) -> Callable[[_Traced], _Traced]: ...
def trace(what: Any = None, /, *, name: str | None = None, category: str | None = None) -> Any:
    """Every call of a function, method, generator or coroutine as an event; of a class, the functions of its body.

    An event bears the function's qualified name and, as its category, the module; `name` and `category` give others.
    """
    if what is None:
        return lambda later: _traced(later, name, category)
    return _traced(what, name, category)


def _traced(what: Any, name: str | None, category: str | None) -> Any:
    if isinstance(what, type):
        return _class_traced(what, category) if _record.is_bound() else what
    if isinstance(what, (staticmethod, classmethod)):
        return type(what)(_traced(what.__func__, name, category))
    if not callable(what):
        raise TypeError(f"only what can be called can be traced, not a {type(what).__name__}")
    return _wrapped(what, name, category) if _record.is_bound() else what


def _wrapped(what: Any, name: str | None, category: str | None) -> Any:
    code = getattr(what, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if isinstance(code, types.CodeType) else (None, 0)
    if name is None:
        name = str(getattr(what, "__qualname__", getattr(what, "__name__", type(what).__name__)))
    if category is None:
        category = getattr(what, "__module__", None)
    return _record.wrap(what, name, category, file, line)


def _class_traced(what: type, category: str | None) -> type:
    for key, value in list(vars(what).items()):
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        own = type(function) is types.FunctionType and function.__qualname__.startswith(f"{what.__qualname__}.")
        if own:
            setattr(what, key, _traced(value, None, category))
    return what


def _start() -> None:
    """Loads the library where FATHOM_OUT asks for a recording and nobody has preloaded it."""
    if not os.environ.get("FATHOM_OUT") or _record.is_bound():
        return
    from fathom._places import find

    try:
        _record.load(find("libfathom.so"))
    except Error:
        return  # a program is not stopped for that; `fathom doctor` tells what is missing


_start()

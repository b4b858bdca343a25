# SPDX-License-Identifier: MIT
"""libfathom_query.so (include/fathom/query.h) by ctypes: plain values in and out, failures as fathom.Error."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import threading
import weakref
from typing import Any, Callable, NamedTuple, Sequence, TypeVar, cast

from fathom._error import Error
from fathom._places import find

T = TypeVar("T")
_LIBRARY = "libfathom_query.so"
_NULL, _BOOL, _INTEGER, _REAL, _TEXT = range(5)


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_char_p), ("message", ctypes.c_char_p), ("hint", ctypes.c_char_p)]


class _OpenOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("memory", ctypes.c_char_p)]


class _Value(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_char_p),
    ]


class _ReportOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("by", ctypes.POINTER(ctypes.c_char_p)),
        ("by_count", ctypes.c_size_t),
        ("top", ctypes.c_int64),
        ("depth", ctypes.c_int64),
        ("layers", ctypes.POINTER(ctypes.c_char_p)),
        ("layer_count", ctypes.c_size_t),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("name_count", ctypes.c_size_t),
        ("pids", ctypes.POINTER(ctypes.c_int64)),
        ("pid_count", ctypes.c_size_t),
        ("begin", ctypes.POINTER(ctypes.c_int64)),
        ("end", ctypes.POINTER(ctypes.c_int64)),
        ("where", ctypes.c_char_p),
        ("call", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
    ]


class ArrowStream(ctypes.Structure):
    """Arrow's C stream. Whoever takes it over leaves `release` empty."""

    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.c_void_p),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("private_data", ctypes.c_void_p),
    ]

    def end(self) -> None:
        if self.release:
            self.release(ctypes.addressof(self))


_POINTER = ctypes.c_void_p
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    # The error comes last in each of these.
    "recording_open": (_POINTER, [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.POINTER(_OpenOptions)]),
    "recording_describe": (_POINTER, [_POINTER]),
    "recording_report": (_POINTER, [_POINTER, ctypes.c_char_p, ctypes.POINTER(_ReportOptions)]),
    "recording_query": (_POINTER, [_POINTER, ctypes.c_char_p, ctypes.POINTER(_Value), ctypes.c_size_t]),
    "views": (_POINTER, []),
    "rows_columns": (_POINTER, [_POINTER]),
    "rows_next": (_POINTER, [_POINTER]),
    "rows_arrow": (ctypes.c_int, [_POINTER, ctypes.POINTER(ArrowStream)]),
}


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    path = find(_LIBRARY)
    try:
        library = ctypes.CDLL(path)
    except OSError as failure:
        raise Error(f"{path} cannot be loaded: {failure}", "", "unsupported") from None
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"fathom_{name}")
        function.restype, function.argtypes = result, [*arguments, ctypes.POINTER(ctypes.POINTER(_Error))]
    for name in ("recording_close", "recording_interrupt", "rows_close", "rows_interrupt", "text_free"):
        function = getattr(library, f"fathom_{name}")
        function.restype, function.argtypes = None, [_POINTER]
    library.fathom_query_version.restype, library.fathom_query_version.argtypes = ctypes.c_char_p, []
    library.fathom_error_free.restype = None
    library.fathom_error_free.argtypes = [ctypes.POINTER(_Error)]
    return library


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


def _call(name: str, *arguments: Any) -> Any:
    library = _library()
    error = ctypes.POINTER(_Error)()
    result = getattr(library, f"fathom_{name}")(*arguments, ctypes.byref(error))
    if not error:
        return result
    told = Error(_text(error.contents.message), _text(error.contents.hint), _text(error.contents.code))
    library.fathom_error_free(error)
    raise told


def _json(name: str, *arguments: Any) -> Any:
    text = _call(name, *arguments)
    if text is None:
        return None
    try:
        return json.loads(ctypes.string_at(text))
    finally:
        _library().fathom_text_free(text)


def _waiting(work: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Runs what may take long such that Ctrl-C ends it: a main thread inside C would not hear of it."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: list[tuple[T | None, BaseException | None]] = []

    def run() -> None:
        try:
            outcome.append((work(), None))
        except BaseException as failure:
            outcome.append((None, failure))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        interrupt()
        thread.join()
        raise
    value, failure = outcome[0]
    if failure is not None:
        raise failure
    return cast(T, value)


def _texts(values: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(values))(*(os.fsencode(value) for value in values))


def _bytes(text: str) -> bytes:
    if "\0" in text:
        raise Error("a text holds a NUL character")
    return text.encode("utf-8", "surrogateescape")


def _value(value: Any) -> _Value:
    if value is None:
        return _Value(_NULL)
    if isinstance(value, bool):
        return _Value(_BOOL, integer=value)
    if isinstance(value, (str, os.PathLike)):
        return _Value(_TEXT, text=_bytes(os.fspath(value)))
    if isinstance(value, float):
        return _Value(_REAL, real=value)
    if hasattr(value, "__index__"):  # NumPy's integers too
        number = value.__index__()
        if -(2**63) <= number < 2**63:
            return _Value(_INTEGER, integer=number)
        raise Error(f"{number} does not fit into 64 bits")
    if hasattr(value, "__float__"):
        return _Value(_REAL, real=float(value))
    raise Error(f"a parameter cannot be a {type(value).__name__}", "use None, bool, int, float or str")


def _time(seconds: float | None) -> Any:
    """Seconds since the start as a pointer to ns; None is NULL."""
    if seconds is None:
        return None
    if not abs(seconds) <= 9e9:
        raise Error(f"{seconds} is not a time", "give seconds since the start")
    return ctypes.pointer(ctypes.c_int64(round(seconds * 1e9)))


class Asked(NamedTuple):
    """How a view is to be shown; empty or -1: as it likes."""

    by: Sequence[str] = ()
    top: int = -1
    depth: int = -1
    call: str | None = None
    file: str | None = None


class Part(NamedTuple):
    """What is left of a run; empty: all."""

    layers: Sequence[str] = ()
    names: Sequence[str] = ()
    pids: Sequence[int] = ()
    begin: float | None = None  # in seconds
    end: float | None = None
    where: str | None = None


def version() -> str:
    return _text(_library().fathom_query_version())


def views() -> Any:
    return _json("views")


class Rows:
    """A query that was prepared; its rows can be taken once."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._close = weakref.finalize(self, _library().fathom_rows_close, handle)

    def columns(self) -> list[str]:
        names: list[str] = _json("rows_columns", self._handle)
        return names

    def next(self) -> list[list[Any]] | None:
        """A few thousand rows; None at the end."""
        rows: list[list[Any]] | None = self.waiting(lambda: _json("rows_next", self._handle))
        return rows

    def waiting(self, work: Callable[[], T]) -> T:
        """What takes rows of this query, such that Ctrl-C ends both."""
        return _waiting(work, lambda: _library().fathom_rows_interrupt(self._handle))

    def arrow(self) -> ArrowStream:
        stream = ArrowStream()
        _call("rows_arrow", self._handle, ctypes.byref(stream))
        return stream


class Store:
    """Opened recordings."""

    def __init__(self, paths: Sequence[str], threads: int, memory: str | None) -> None:
        limit = None if memory is None else _bytes(memory)
        options = _OpenOptions(ctypes.sizeof(_OpenOptions), threads, limit)
        self._handle: int = _call("recording_open", _texts(paths), len(paths), ctypes.byref(options))
        self._close = weakref.finalize(self, _library().fathom_recording_close, self._handle)

    def close(self) -> None:
        self._close()

    def _open(self) -> int:
        if not self._close.alive:
            raise Error("the recording is closed", "open it again")
        return self._handle

    def describe(self) -> Any:
        return _json("recording_describe", self._open())

    def report(self, view: str, asked: Asked, part: Part) -> Any:
        options = _ReportOptions(
            ctypes.sizeof(_ReportOptions),
            *(_texts(asked.by), len(asked.by), asked.top, asked.depth),
            *(_texts(part.layers), len(part.layers), _texts(part.names), len(part.names)),
            *((ctypes.c_int64 * len(part.pids))(*part.pids), len(part.pids)),
            *(_time(part.begin), _time(part.end)),
            *(None if text is None else _bytes(text) for text in (part.where, asked.call, asked.file)),
        )
        handle = self._open()
        return _waiting(
            lambda: _json("recording_report", handle, _bytes(view), ctypes.byref(options)),
            lambda: _library().fathom_recording_interrupt(handle),
        )

    def query(self, sql: str, parameters: Sequence[Any]) -> Rows:
        values = (_Value * len(parameters))(*(_value(parameter) for parameter in parameters))
        return Rows(_call("recording_query", self._open(), _bytes(sql), values, len(parameters)))

# SPDX-License-Identifier: MIT
"""What both generations of DFTracer share: the instance that programs log by, and decorators, blocks and loops.

Where nothing is recorded, decorators give back what they were given. Else a decorated function is Fathom's own C object
(`fathom.trace`), and a block is its region. Arguments are looked at only where somebody wants them
(DFTRACER_INC_METADATA), since the files do not show them otherwise.
"""

from __future__ import annotations

import functools
import inspect
import types
from contextvars import ContextVar
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

from dftracer._entities import Declares, Relates
from dftracer._library import native, takes_args
from dftracer._tags import Tagged

if native is not None:
    from fathom.annotate import _record

Arguments = Dict[str, Any]

TOLD = ("epoch", "step", "image_idx", "image_size")  # the parameters that a decorator tells of a call

# The blocks that are open here: (whose, region, those around it). By task, since tasks share their objects.
_Open = Optional[Tuple[object, Any, Any]]
_open: ContextVar[_Open] = ContextVar("dftracer_open", default=None)


def plain(value: Any) -> Any:
    """What is recorded for a value: numbers as they are, else their text; of a tag, what is tagged."""
    tagged = getattr(value, "value", None)
    if callable(tagged) and type(value).__name__ == "TagValue":
        value = tagged()[1]
    return value if type(value) in (int, float, str) else str(value)


class Logger(Declares):
    """The class `dftracer` of programs: one instance, which begins and ends recording."""

    generation = 2
    _instance: Logger | None = None

    def __init__(self) -> None:
        self.start_time = 0
        self.logger = native
        self.dbg_logging = None  # DFTracer writes a log of its own there
        type(self)._instance = self

    @classmethod
    def get_instance(cls) -> Logger:
        return cls._instance or cls()

    @classmethod
    def initialize_log(cls, logfile: str | None = None, data_dir: str | None = None, process_id: int = -1) -> Logger:
        instance = cls.get_instance()
        if native is None:
            return instance
        begun = native.begin(_text(logfile), _text(data_dir), process_id, cls.generation)
        instance.start_time = native.get_time()
        if not begun:
            _warn("nothing is recorded: the directory of the log file cannot be written, or the library is missing")
        return instance

    def get_time(self) -> int:
        return native.get_time() if native is not None else 0

    def get_config(self, key: str) -> str:
        return native.get_config(key) if native is not None else ""

    def enter_event(self) -> None:
        """Levels are told by the events themselves."""

    def exit_event(self) -> None:
        """See enter_event."""

    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: Arguments | None = None,
        float_args: Arguments | None = None,
        string_args: Arguments | None = None,
        relations: dict[Any, Any] | None = None,
    ) -> None:
        if native is None:
            return
        native.log_event(name, cat, int(start_time), int(duration), int_args, string_args, float_args, relations)

    def log_metadata_event(self, key: str, value: str) -> None:
        if native is not None:
            native.log_metadata_event(key, value)

    def set_app_metadata_int(self, key: str, value: int) -> None:
        if native is not None:
            native.set_app_metadata_int(key, value)

    def set_app_metadata_string(self, key: str, value: str) -> None:
        if native is not None:
            native.set_app_metadata_string(key, value)

    def mark_used(self, name: str) -> None:
        """Which parts of DFTracer a program uses is told by its events."""

    def finalize(self) -> None:
        if native is not None:
            native.finalize()


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def _warn(words: str) -> None:
    import logging

    logging.getLogger("DFTRACER").warning("dftracer: %s", words)


def open_block(whose: object, name: str, category: str) -> None:
    region = _record.region(name, category=category)
    region.__enter__()
    _open.set((whose, region, _open.get()))


def close_block(whose: object, arguments: Arguments, exception: Any = None) -> bool:
    """Ends the innermost block of this object here, with its arguments. Whether there was one."""
    skipped = []
    entry = _open.get()
    while entry is not None and entry[0] is not whose:
        skipped.append(entry)
        entry = entry[2]
    if entry is None:
        return False
    rest = entry[2]
    for other in reversed(skipped):
        rest = (other[0], other[1], rest)
    _open.set(rest)
    if takes_args:
        for key, value in arguments.items():
            _record.arg(key, plain(value))
    entry[1].__exit__(exception)
    return True


def log_timed(name: str, category: str, start: int, end: int, arguments: Arguments) -> None:
    native.log_event(name, category, start, end - start, None, {key: plain(arguments[key]) for key in arguments})


class Told:
    """Which arguments of a call are told: the values of this call, and what its object says of itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        names = [parameter.name for parameter in parameters]
        self.method = names[:1] == ["self"]
        self.places = [(names.index(name), name) for name in TOLD if name in names]
        empty = inspect.Parameter.empty
        self.defaults = {p.name: p.default for p in parameters if p.name in TOLD and p.default is not empty}

    def any(self) -> bool:
        return self.method or bool(self.places)

    def of(self, given: tuple[Any, ...], named: Arguments) -> Arguments:
        found: Arguments = {}
        if self.method and given:
            for name in TOLD:
                value = getattr(given[0], name, None)
                if value is not None and not callable(value):
                    found[name] = value
        found.update(self.defaults)
        for place, name in self.places:
            if place < len(given):
                found[name] = given[place]
            elif name in named:
                found[name] = named[name]
        return {name: value for name, value in found.items() if value is not None}


def _send(told: Told, more: Callable[[], Arguments], given: tuple[Any, ...], named: Arguments) -> None:
    for key, value in {**more(), **told.of(given, named)}.items():
        _record.arg(key, plain(value))


def _telling(function: Callable[..., Any], more: Callable[[], Arguments]) -> Callable[..., Any]:
    """The function, which tells its arguments inside its own event first."""
    told = Told(function)
    if inspect.isasyncgenfunction(function):  # what is sent into it would have to be passed on by hand
        return function
    if inspect.iscoroutinefunction(function):

        async def telling(*given: Any, **named: Any) -> Any:
            _send(told, more, given, named)
            return await function(*given, **named)

    elif inspect.isgeneratorfunction(function):

        def telling(*given: Any, **named: Any) -> Any:
            _send(told, more, given, named)
            return (yield from function(*given, **named))

    else:

        def telling(*given: Any, **named: Any) -> Any:
            _send(told, more, given, named)
            return function(*given, **named)

    return functools.wraps(function)(telling)


def _nothing() -> Arguments:
    return {}


def traced(function: Any, name: str | None, category: str, more: Callable[[], Arguments] | None = None) -> Any:
    """Every call of it as an event. `more` are arguments that do not come from the call."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(traced(function.__func__, name, category, more))
    if native is None:
        return function
    code = getattr(function, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if isinstance(code, types.CodeType) else (None, 0)
    called = name or str(getattr(function, "__qualname__", getattr(function, "__name__", type(function).__name__)))
    inner = function
    if takes_args and (more is not None or Told(function).any()):
        inner = _telling(function, more or _nothing)
    return _record.wrap(inner, called, category, file, line)


def decorator(decorate: Callable[[Any], Any], function: Any) -> Any:
    """With parentheses and without."""
    return decorate(function) if function is not None else decorate


def numbered(
    iterable: Iterable[Any], names: tuple[str | None, str | None], category: str, key: str, more: Arguments
) -> Iterator[Any]:
    """A loop: how long each item took to come, and how long the loop's body took with it."""
    number = 0
    whose = object()
    source = iter(iterable)
    while True:
        start = native.get_time()
        try:
            item = next(source)
        except StopIteration:
            return
        number += 1
        arguments = {**more, key: number}
        if names[0] is not None:
            log_timed(names[0], category, start, native.get_time(), arguments)
        if names[1] is None:
            yield item
            continue
        open_block(whose, names[1], category)
        try:
            yield item
        finally:
            close_block(whose, arguments)


class Annotation(Tagged, Relates):
    """The class `dft_fn` of programs: decorator, block and loop of one category."""

    _flush = False  # whether a block was ended early: here that is known by the open ones
    _start = 0

    def __init__(
        self,
        cat: str,
        name: str | None = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: bool = True,
    ) -> None:
        self._enable = enable  # what the program asked for
        self._on = enable and native is not None
        self._cat = cat
        self._name = name or inspect.currentframe().f_back.f_code.co_name  # type: ignore[union-attr]
        self._arguments: Arguments = {}
        if self._on:
            self.update(epoch, step, image_idx, image_size)
            self._start = native.get_time()

    def __enter__(self) -> Any:
        if self._on:
            open_block(self, self._name, self._cat)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._on:
            close_block(self, self._arguments, kind)

    def update(
        self,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        args: Arguments | None = None,
    ) -> Any:
        if self._on:
            for key, value in zip(TOLD, (epoch, step, image_idx, image_size)):
                if value is not None:
                    self._arguments[key] = value
            self._arguments.update(args or {})
        return self

    def reset(self) -> Any:
        """An event by hand begins."""
        if self._on:
            self._start = native.get_time()
        return self

    def flush(self) -> Any:
        """It ends; in a block, that ends early."""
        if self._on and not close_block(self, self._arguments):
            log_timed(self._name, self._cat, self._start, native.get_time(), self._arguments)
        return self

    def _decorator(self, function: Any, name: str | None) -> Any:
        if not self._on:
            return decorator(lambda later: later, function)
        return decorator(lambda later: traced(later, name, self._cat), function)

    def log(self, func: Any = None, name: str | None = None) -> Any:
        return self._decorator(func, name)

    def log_init(self, init: Any = None, name: str | None = None) -> Any:
        return self._decorator(init, name)

    def log_static(self, func: Any = None, name: str | None = None) -> Any:
        return self._decorator(func, name)

    def log_metadata(self, key: str, value: str) -> None:
        if self._on:
            native.log_metadata_event(key, value)

    def _loop(self, iterable: Iterable[Any], name: str, iter_name: str) -> Iterator[Any]:
        if not self._on:
            return iter(iterable)
        return numbered(iterable, (f"{name}.iter", f"{name}.yield"), self._cat, iter_name, {})

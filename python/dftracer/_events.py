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
from typing import Any, Callable, Dict, Iterable, Iterator

from dftracer._entities import Declares, Relates
from dftracer._library import native, takes_args
from dftracer._tags import Tagged

_UNIT = "DFTRACER_TIME_METRIC"

if native is not None:
    from fathom.annotate import _record

    _record.set_up_markers(takes_args, {"NS": 1, "MS": 10**6, "SEC": 10**9}.get(native.get_config(_UNIT), 1000))
    Marker: Any = _record.Marker
else:
    from dftracer._idle import Marker

Arguments = Dict[str, Any]

TOLD = ("epoch", "step", "image_idx", "image_size")  # the parameters that a decorator tells of a call


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

    def spec(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[Any, ...]]:
        """As `_record.tell` takes it: names, their places and their defaults."""
        places = {name: place for place, name in self.places}
        names = tuple(name for name in TOLD if self.method or name in places)
        return names, tuple(places.get(n, -1) for n in names), tuple(self.defaults.get(n, ...) for n in names)

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


def _send(told: Told, marker: Any, given: tuple[Any, ...], named: Arguments) -> None:
    more = marker._arguments if marker is not None else {}
    for key, value in {**more, **told.of(given, named)}.items():
        _record.arg(key, plain(value))


def _telling(function: Callable[..., Any], marker: Any) -> Callable[..., Any]:
    """What runs step by step, which tells its arguments inside its own event first."""
    told = Told(function)
    if inspect.isasyncgenfunction(function):  # what is sent into it would have to be passed on by hand
        return function
    if inspect.iscoroutinefunction(function):

        async def telling(*given: Any, **named: Any) -> Any:
            _send(told, marker, given, named)
            return await function(*given, **named)

    else:

        def telling(*given: Any, **named: Any) -> Any:
            _send(told, marker, given, named)
            return (yield from function(*given, **named))

    return functools.wraps(function)(telling)


_STEPPED = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


def _wrap(function: Any, name: str | None, category: str, inner: Any) -> Any:
    code = getattr(function, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if isinstance(code, types.CodeType) else (None, 0)
    called = name or str(getattr(function, "__qualname__", getattr(function, "__name__", type(function).__name__)))
    return _record.wrap(inner, called, category, file, line)


def _switched(recorded: Any, function: Any, marker: Any) -> Any:
    @functools.wraps(function)
    def switched(*given: Any, **named: Any) -> Any:
        return recorded(*given, **named) if marker._on else function(*given, **named)

    return switched


def traced(function: Any, name: str | None, category: str, marker: Any = None) -> Any:
    """Every call of it as an event. A marker switches that, at run time, and has arguments of its own."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(traced(function.__func__, name, category, marker))
    if native is None:
        return function
    told = Told(function) if takes_args else None
    tells = told is not None and told.any()
    if any(stepped(function) for stepped in _STEPPED):
        inner = _telling(function, marker) if takes_args and (marker is not None or tells) else function
        recorded = _wrap(function, name, category, inner)
        return recorded if marker is None else _switched(recorded, function, marker)
    recorded = _wrap(function, name, category, function)
    if marker is not None or tells:
        spec = told.spec() if told is not None else ((), (), ())
        _record.tell(recorded, *spec, told is not None and told.method, marker)
    return recorded


def decorator(decorate: Callable[[Any], Any], function: Any) -> Any:
    """With parentheses and without."""
    return decorate(function) if function is not None else decorate


def numbered(
    iterable: Iterable[Any], names: tuple[str | None, str | None], category: str, key: str, more: Arguments
) -> Iterator[Any]:
    """A loop: how long each item took to come, and how long the loop's body took with it."""
    number = 0
    block = Marker(category, names[1]) if names[1] is not None else None
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
        if block is None:
            yield item
            continue
        block._arguments.update(arguments)
        block.__enter__()
        try:
            yield item
        finally:
            block._close()


class Annotation(Marker, Tagged, Relates):
    """The class `dft_fn` of programs: decorator, block and loop of one category."""

    _flush = False  # whether a block was ended early: here that is known by the open ones

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if native is not None:
            _record.quicken(cls)

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
            self._restart()
        return self

    def flush(self) -> Any:
        """It ends; in a block, that ends early."""
        if self._on and not self._close():
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

# SPDX-License-Identifier: MIT
"""What the modules of DFTracer 2.x share: the classes that programs annotate with, and what is behind them."""

from __future__ import annotations

import inspect
import logging
import sys
from typing import Any, Callable, Iterable, Iterator, Protocol, TypeVar

from dftracer._entities import EntityID, EntityRelation, EntityRole, EntityStore
from dftracer._events import Annotation, Arguments, Logger
from dftracer._library import native
from dftracer._tags import TagDType, TagType, TagValue, TagValueTuple
from dftracer.python import env
from dftracer.python.env import *  # noqa: F403

if sys.version_info >= (3, 10):
    from typing import ParamSpec

    P = ParamSpec("P")
else:
    P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")

__all__ = [
    *env.__all__,
    "EntityID",
    "EntityRelation",
    "EntityRole",
    "EntityStore",
    "NoOpProfiler",
    "P",
    "ProfilerProtocol",
    "R",
    "T",
    "TagDType",
    "TagType",
    "TagValue",
    "TagValueTuple",
    "capture_signal",
    "dft_fn",
    "dftracer",
    "get_default_args",
    "get_time_scale",
    "profiler",
    "setup_logger",
]


class ProfilerProtocol(Protocol):
    """What a native module offers."""

    def initialize(self, log_file: str | None = None, data_dirs: str | None = None, process_id: int = -1) -> None: ...
    def finalize(self) -> None: ...
    def get_time(self) -> int: ...
    def get_config(self, key: str) -> str: ...
    def enter_event(self) -> None: ...
    def exit_event(self) -> None: ...
    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: Arguments | None = None,
        string_args: Arguments | None = None,
        float_args: Arguments | None = None,
        relations: dict[Any, Any] | None = None,
    ) -> None: ...
    def log_metadata_event(self, key: str, value: str) -> None: ...
    def set_app_metadata_int(self, key: str, value: int) -> None: ...
    def set_app_metadata_string(self, key: str, value: str) -> None: ...
    def mark_used(self, name: str) -> None: ...
    def declare_entity(self, type: str, key: str, store: Any, uri: str) -> EntityID: ...
    def declare_entity_type(self, type: str, role: Any, description: str) -> None: ...
    def relate_entities(self, relation: Any, subject: EntityID, object: EntityID) -> None: ...


class NoOpProfiler:
    """Stands for the native module where nothing is recorded."""

    def get_time(self) -> int:
        return 0

    def get_config(self, key: str) -> str:
        return ""

    def declare_entity(self, *given: Any, **named: Any) -> EntityID:
        return 0

    def nothing(self, *given: Any, **named: Any) -> None:
        """Whatever it is told."""

    initialize = finalize = enter_event = exit_event = log_event = log_metadata_event = nothing
    set_app_metadata_int = set_app_metadata_string = mark_used = nothing
    declare_entity_type = relate_entities = nothing


profiler: Any = native if native is not None else NoOpProfiler()


class dftracer(Logger):  # noqa: N801
    generation = 2
    _instance = None


class dft_fn(Annotation):  # noqa: N801
    def iter(self, func: Iterable[Any], name: str = "loop", iter_name: str = "step") -> Iterator[Any]:
        """Every turn of a loop as two events: `<name>.iter`, until the item is there, and `<name>.yield`, the body."""
        return self._loop(func, name, iter_name)


def get_time_scale() -> float:
    """Units of `get_time` in a second."""
    metric = native.get_config("DFTRACER_TIME_METRIC") if native is not None else "US"
    return {"NS": 1e9, "MS": 1e3, "SEC": 1.0}.get(metric, 1e6)


def capture_signal(signal_number: int, frame: Any) -> None:
    """A handler that ends the program with its file complete. Nothing installs it: killed programs have their files."""
    dftracer.get_instance().finalize()
    sys.exit(signal_number)


def setup_logger(name: str, log_file: str, formatter: str, level: int = logging.INFO) -> logging.Logger:
    """A logger that writes to a file."""
    handler = logging.FileHandler(log_file)
    handler.setFormatter(logging.Formatter(formatter))
    logger = logging.getLogger(name)
    logger.setLevel(level)
    logger.addHandler(handler)
    return logger


def get_default_args(func: Callable[..., Any]) -> dict[str, Any]:
    """The parameters that have a default, with it."""
    parameters = inspect.signature(func).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}

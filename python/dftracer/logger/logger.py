# SPDX-License-Identifier: MIT
"""The classes that programs annotate with."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

from dftracer._events import Annotation, Logger
from dftracer.python.common import get_default_args, setup_logger
from dftracer.python.env import (
    DFTRACER_ENABLE,
    DFTRACER_ENABLE_ENV,
    DFTRACER_INIT_ENV,
    DFTRACER_INIT_PRELOAD,
    DFTRACER_LOG_LEVEL,
    DFTRACER_LOG_LEVEL_ENV,
)

__all__ = [
    "DFTRACER_ENABLE",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_ENV",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV",
    "capture_signal",
    "dft_fn",
    "dftracer",
    "get_default_args",
    "setup_logger",
]


class dftracer(Logger):  # noqa: N801
    generation = 1
    _instance = None


class dft_fn(Annotation):  # noqa: N801
    def iter(self, func: Iterable[Any], name: Any = None, iter_name: str = "step") -> Iterator[Any]:
        """Every turn of a loop as two events: `<name>.iter`, until the item is there, and `<name>.yield`, the body."""
        return self._loop(func, name or self._name, iter_name)


def capture_signal(signal_number: int, frame: Any) -> None:
    """A handler that ends the program with its file complete. Nothing installs it: killed programs have their files."""
    dftracer.get_instance().finalize()
    raise SystemExit(signal_number)

# SPDX-License-Identifier: MIT
"""DFTracer 1.x: `from dftracer.logger import dftracer, dft_fn`."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

from dftracer._ai import tree
from dftracer._events import Annotation, Logger
from dftracer._library import native

__all__ = ["DFTRACER_ENABLE", "ai", "dft_fn", "dftracer"]

DFTRACER_ENABLE = native is not None


class dftracer(Logger):  # noqa: N801
    generation = 1
    _instance = None


class dft_fn(Annotation):  # noqa: N801
    def iter(self, func: Iterable[Any], name: Any = None, iter_name: str = "step") -> Iterator[Any]:
        """Every turn of a loop as two events: `<name>.iter`, until the item is there, and `<name>.yield`, the body."""
        return self._loop(func, name or getattr(self, "_name", ""), iter_name)


ai = tree()

# SPDX-License-Identifier: MIT
"""The classes that programs annotate with."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

from dftracer._events import Annotation, Logger

__all__ = ["dft_fn", "dftracer"]


class dftracer(Logger):  # noqa: N801
    generation = 2
    _instance = None


class dft_fn(Annotation):  # noqa: N801
    def iter(self, func: Iterable[Any], name: str = "loop", iter_name: str = "step") -> Iterator[Any]:
        """Every turn of a loop as two events: `<name>.iter`, until the item is there, and `<name>.yield`, the body."""
        return self._loop(func, name, iter_name)

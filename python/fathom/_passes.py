# SPDX-License-Identifier: MIT
"""A pass over something that gives batches: an epoch, its steps, and the waits in them. It needs no framework."""

from __future__ import annotations

import threading
from typing import Any, Callable, Iterator

from fathom import annotate
from fathom.annotate import region


class Here(threading.local):
    """What this thread is in. Inside of data nothing but data is told."""

    data = False
    worker = False  # of a DataLoader
    open: frozenset[str] = frozenset()  # phases
    breaks = 0  # of graphs, when torch.compile began
    compilations = 0  # that JAX has begun


here = Here()


def recording() -> bool:
    return bool(annotate._record.is_bound())  # type: ignore[attr-defined]


def data(name: str, category: str, call: Callable[[], Any]) -> Any:
    """`call` as a region of data. StopIteration is an end, not a failure."""
    before = here.data
    here.data = True
    told = region(name, category=category)
    told.__enter__()
    failed: Any = None
    try:
        return call()
    except StopIteration:
        raise
    except BaseException as error:
        failed = type(error)
        raise
    finally:
        told.__exit__(failed)
        here.data = before


class _Fetches:
    """An iterator that tells how long its user waits."""

    def __init__(self, advance: Callable[[], Any]) -> None:
        self._advance = advance

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return data("fetch", "dataloader", self._advance)


class Pass:
    """From `iter` until there is nothing more, or nobody holds it. A step begins with the wait for its batch."""

    def __init__(self, training: bool) -> None:
        self._training = training
        self._turns: Iterator[Any] | None = None
        self._all = region("epoch" if training else "evaluate")
        self._all.__enter__()
        self.ended = False

    def start(self, make: Callable[[], Any]) -> Any:
        """Makes the iterator; workers start in it."""
        try:
            return data("start", "dataloader", make)
        except BaseException:
            self.close()
            raise

    def goes_over(self, advance: Callable[[], Any]) -> None:
        fetches = _Fetches(advance)
        self._turns = annotate.iter(fetches, "step") if self._training else fetches

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._turns is None:
            raise StopIteration
        try:
            return next(self._turns)
        except StopIteration:
            self.close()
            raise

    def close(self) -> None:
        self.ended = True
        self._turns = None  # ends the step that is open
        self._all.__exit__()  # once more is nothing

    def __del__(self) -> None:
        self.close()

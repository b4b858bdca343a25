# SPDX-License-Identifier: MIT
"""The phases of a training by hand, for every framework: the regions that view `training` of a report knows.

>>> for batch in loader(batches):           # epochs, steps, waits
...     with forward():
...         ...

fathom.torch, fathom.jax, fathom.tensorflow and fathom.keras have these names too. No framework is needed for them.
Where nothing is recorded, `loader` gives back what it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator, TypeVar

from fathom._passes import Pass, recording
from fathom.annotate import region

if TYPE_CHECKING:
    from fathom._record import Region

__all__ = [
    "backward",
    "batch",
    "checkpoint",
    "compilation",
    "epoch",
    "evaluate",
    "fetch",
    "forward",
    "loader",
    "optimizer",
    "step",
]

_Item = TypeVar("_Item")


class _Loader:
    """An iterable whose every pass is an epoch; its other attributes are those of what it stands for."""

    def __init__(self, iterable: Iterable[Any], training: bool) -> None:
        self._iterable = iterable
        self._training = training

    def __iter__(self) -> Iterator[Any]:
        one = Pass(self._training)
        iterator = one.start(lambda: iter(self._iterable))
        one.goes_over(iterator.__next__)
        return one

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return bool(self._iterable)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # those are its own, and may be missing while it is copied
            raise AttributeError(name)
        return getattr(self._iterable, name)


def loader(iterable: Iterable[_Item], *, training: bool = True) -> Iterable[_Item]:
    """Each pass an epoch, each turn a step that begins with the wait for its item.

    With `training` False a pass is an evaluation, and has no steps. An iterator gives one, which begins here.
    """
    if not recording():
        return iterable
    one = _Loader(iterable, training)
    return iter(one) if hasattr(iterable, "__next__") else one


def epoch(**arguments: Any) -> Region:
    return region("epoch", **arguments)


def evaluate(**arguments: Any) -> Region:
    return region("evaluate", **arguments)


def step(**arguments: Any) -> Region:
    return region("step", **arguments)


def fetch(**arguments: Any) -> Region:
    """The training waits for data."""
    return region("fetch", category="dataloader", **arguments)


def batch(**arguments: Any) -> Region:
    """Data is read and prepared, wherever that happens."""
    return region("batch", category="data", **arguments)


def forward(**arguments: Any) -> Region:
    return region("forward", category="compute", **arguments)


def backward(**arguments: Any) -> Region:
    return region("backward", category="compute", **arguments)


def optimizer(**arguments: Any) -> Region:
    return region("optimizer", category="compute", **arguments)


def checkpoint(**arguments: Any) -> Region:
    return region("checkpoint", category="checkpoint", **arguments)


def compilation(**arguments: Any) -> Region:
    """A function is compiled, which happens once and is no part of a steady step."""
    return region("compile", category="compile", **arguments)

# SPDX-License-Identifier: MIT
"""The phases of a training, for view `training` of a report; docs/python.md has their names.

>>> fathom.torch.auto()                                  # all that PyTorch lets us see, from here on
>>> fathom.torch.watch(model, optimizer, train_loader)   # or these alone
>>> for batch in fathom.torch.loader(batches):           # where no hook reaches: epochs, steps, waits
...     with fathom.torch.forward():
...         ...

`python3 -m fathom.torch train.py` runs a program with `auto` on. PyTorch is needed for `auto` and `watch` alone. Where
nothing is recorded, nothing is hooked and `loader` gives back what it was given.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Iterator, TypeVar

from fathom import torch_hooks
from fathom._error import Error
from fathom.annotate import region
from fathom.torch_passes import Pass, recording

if TYPE_CHECKING:
    from fathom._record import Region

__all__ = [
    *("Watch", "auto", "backward", "batch", "checkpoint", "epoch", "evaluate", "fetch", "forward", "loader"),
    *("optimizer", "step", "watch"),
]

_Item = TypeVar("_Item")


class Watch:
    """What is watched until `remove`; also a context manager."""

    def __init__(self, chosen: torch_hooks.Chosen | None) -> None:
        self._chosen = chosen  # None: nothing is recorded, so nothing was hooked

    def remove(self) -> None:
        """Takes the hooks away; once more does nothing."""
        if self._chosen is not None:
            torch_hooks.remove(self._chosen)
        self._chosen = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def auto() -> Watch:
    """Every DataLoader, module and optimizer, backward passes, and checkpoints."""
    return _watch(torch_hooks.Chosen(everything=True))


def watch(model: Any = None, optimizer: Any = None, loader: Any = None) -> Watch:
    """These, each of which may also be a list, and what belongs to none: backward passes and checkpoints."""
    return _watch(torch_hooks.Chosen(_several(model), _several(optimizer), _several(loader)))


def _several(objects: Any) -> list[Any]:
    if objects is None:
        return []
    return list(objects) if isinstance(objects, (list, tuple)) else [objects]


def _watch(chosen: torch_hooks.Chosen) -> Watch:
    if not recording():
        return Watch(None)
    torch_hooks.install(chosen)
    return Watch(chosen)


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


_USAGE = """usage: python3 -m fathom.torch PROGRAM [ARGUMENT...]
       python3 -m fathom.torch -m MODULE [ARGUMENT...]

Runs a Python program with the hooks of fathom.torch.auto(); under `fathom run`, or with FATHOM_OUT set."""


def main(words: list[str]) -> int:
    of_module = words[:1] == ["-m"]
    words = words[1:] if of_module else words
    if not words or (words[0].startswith("-")):
        asked = words[:1] in (["-h"], ["--help"])
        print(_USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        auto()
    except Error as error:
        print(f"fathom: {error}", file=sys.stderr)
        return 1
    sys.argv = words
    if of_module:
        sys.path[0] = str(Path.cwd())
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        return 0
    if not Path(words[0]).exists():
        print(f"fathom: there is no {words[0]}", file=sys.stderr)
        return 2
    sys.path[0] = str(Path(words[0]).resolve().parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

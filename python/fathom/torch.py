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

import sys
from typing import Any

from fathom import _runner, phases, torch_hooks
from fathom._passes import recording
from fathom._watch import Watch
from fathom.phases import *  # noqa: F403

__all__ = ["Watch", "auto", "watch"]
__all__ += phases.__all__


def auto() -> Watch:
    """Every DataLoader, module and optimizer, backward passes, checkpoints, and compilations."""
    return _watch(torch_hooks.Chosen(everything=True))


def watch(model: Any = None, optimizer: Any = None, loader: Any = None) -> Watch:
    """These, each of which may also be a list, and what belongs to none: backward passes, checkpoints, compilations."""
    return _watch(torch_hooks.Chosen(_several(model), _several(optimizer), _several(loader)))


def _several(objects: Any) -> list[Any]:
    if objects is None:
        return []
    return list(objects) if isinstance(objects, (list, tuple)) else [objects]


def _watch(chosen: torch_hooks.Chosen) -> Watch:
    if not recording():
        return Watch(None)
    torch_hooks.install(chosen)
    return Watch(lambda: torch_hooks.remove(chosen))


def main(words: list[str]) -> int:
    return _runner.main("torch", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

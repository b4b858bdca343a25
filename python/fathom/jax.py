# SPDX-License-Identifier: MIT
"""What a JAX program compiles, computes and moves, for view `training` of a report; docs/python.md has the names.

>>> fathom.jax.auto()                              # all that JAX lets us see, from here on
>>> for batch in fathom.jax.loader(batches):       # JAX has no loader of its own: epochs, steps, waits
...     with fathom.jax.step():
...         ...

`python3 -m fathom.jax train.py` runs a program with `auto` on. JAX is needed for `auto` alone. Where nothing is
recorded, nothing is hooked and `loader` gives back what it was given.
"""

from __future__ import annotations

import sys

from fathom import _runner, jax_hooks, phases
from fathom._passes import recording
from fathom._watch import Watch
from fathom.phases import *  # noqa: F403

__all__ = ["Watch", "auto"]
__all__ += phases.__all__


def auto() -> Watch:
    """Compilations, calls of functions that are compiled from here on, waits, transfers, the program's annotations."""
    if not recording():
        jax_hooks.jax()
        return Watch(None)
    return Watch(jax_hooks.install())


def main(words: list[str]) -> int:
    return _runner.main("jax", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

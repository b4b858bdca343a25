# SPDX-License-Identifier: MIT
"""The phases of a Keras training, on any backend, for view `training` of a report; docs/python.md has their names.

>>> fathom.keras.auto()                            # fit, evaluate, predict, and custom loops, from here on

`python3 -m fathom.keras train.py` runs a program with `auto` on, and with the hooks of its backend. Keras is needed for
`auto` alone. Where nothing is recorded, nothing is hooked.
"""

from __future__ import annotations

import sys

from fathom import _runner, keras_hooks, phases
from fathom._passes import recording
from fathom._watch import Watch
from fathom.phases import *  # noqa: F403

__all__ = ["Watch", "auto"]
__all__ += phases.__all__


def auto() -> Watch:
    """Epochs, steps, evaluations, predictions, waits for batches, checkpoints, compute that is not compiled."""
    if not recording():
        keras_hooks.keras()
        return Watch(None)
    return Watch(keras_hooks.install())


def main(words: list[str]) -> int:
    return _runner.main("keras", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

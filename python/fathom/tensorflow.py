# SPDX-License-Identifier: MIT
"""What a TensorFlow program traces, computes and waits for, for view `training` of a report (docs/python.md).

>>> fathom.tensorflow.auto()                            # all that TensorFlow and Keras let us see, from here on
>>> for batch in fathom.tensorflow.loader(dataset):     # epochs and steps of a loop of your own
...     ...

`python3 -m fathom.tensorflow train.py` runs a program with `auto` on. TensorFlow is needed for `auto` alone. Where
nothing is recorded, nothing is hooked and `loader` gives back what it was given.
"""

from __future__ import annotations

import sys

from fathom import _runner, keras, phases, tensorflow_hooks
from fathom._hooks import when_imported
from fathom._passes import recording
from fathom._watch import Watch
from fathom.phases import *  # noqa: F403

__all__ = ["Watch", "auto"]
__all__ += phases.__all__


def auto() -> Watch:
    """Functions that are traced and called, batches of tf.data, gradients, checkpoints; Keras once it is imported."""
    if not recording():
        tensorflow_hooks.tensorflow()
        return Watch(None)
    remove = tensorflow_hooks.install()
    of_keras: list[Watch] = []
    forget = when_imported("keras", lambda: of_keras.append(keras.auto()))

    def undo() -> None:
        forget()
        for watch in of_keras:
            watch.remove()
        remove()

    return Watch(undo)


def main(words: list[str]) -> int:
    return _runner.main("tensorflow", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: MIT
"""`python3 -m fathom.torch train.py`, and the same for the other frameworks: runs a program with their hooks on."""

from __future__ import annotations

import functools
import importlib
import runpy
import sys
from pathlib import Path

from fathom._error import Error
from fathom._hooks import when_imported
from fathom._passes import recording

FRAMEWORKS = ("torch", "jax", "tensorflow", "keras")

_USAGE = """usage: python3 -m fathom.{0} PROGRAM [ARGUMENT...]
       python3 -m fathom.{0} -m MODULE [ARGUMENT...]

Runs a Python program with the hooks of fathom.{0}.auto(), and with those of the other frameworks that it imports; under
`fathom run`, or with FATHOM_OUT set."""


def main(framework: str, words: list[str]) -> int:
    of_module = words[:1] == ["-m"]
    words = words[1:] if of_module else words
    if not words or (words[0].startswith("-")):
        asked = words[:1] in (["-h"], ["--help"])
        print(_USAGE.format(framework), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        _watch(framework)
    except Error as error:
        print(f"fathom: {error}", file=sys.stderr)
        return 1
    return _run(words, of_module)


def _watch(framework: str) -> None:
    """This one at once, the others if the program imports them: nothing is imported that it would not have."""
    for other in FRAMEWORKS if recording() else ():
        if other != framework:
            when_imported(other, functools.partial(_auto, other))  # before: a framework may import another
    _auto(framework)


def _auto(framework: str) -> None:
    importlib.import_module(f"fathom.{framework}").auto()


def _run(words: list[str], of_module: bool) -> int:
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

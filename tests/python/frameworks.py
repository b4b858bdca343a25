# SPDX-License-Identifier: MIT
"""Interpreters that have PyTorch 2, JAX or TensorFlow.

FATHOM_FRAMEWORKS names some (with colons between them); with --full those that are still missing are installed, in the
versions of frameworks_*.txt, into .cache/formats.
"""

import functools
import os
import subprocess
from pathlib import Path
from typing import Dict, List, Tuple

from kit import Skip, environment, ran
from test_annotations import pythons

HERE = Path(__file__).resolve().parent
FILES = {"torch": "frameworks_torch.txt", "jax": "frameworks_jax.txt", "tensorflow": "frameworks_tensorflow.txt"}
OLD = {"torch": (1,)}  # versions that other tests try


def version_of(python: str, framework: str) -> Tuple[int, ...]:
    """Empty where the interpreter has no such framework, or we have no extension for it."""
    ask = f"import fathom._record, importlib.metadata as m; print(m.version({framework!r}).split('+')[0])"
    ask = f"import {framework}; {ask}" if framework == "torch" else ask
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    words = done.stdout.strip().split(".") if done.returncode == 0 else []
    return tuple(int(word) for word in words if word.isdigit())


def is_new(framework: str, version: Tuple[int, ...]) -> bool:
    return bool(version) and version[:1] != OLD.get(framework)


@functools.lru_cache(maxsize=None)
def python_with(framework: str) -> str:
    distribution = "tensorflow-cpu" if framework == "tensorflow" else framework
    named = [one for one in os.environ.get("FATHOM_FRAMEWORKS", "").split(":") if one]
    for python in [*named, *pythons().values()]:
        if is_new(framework, version_of(python, distribution)):
            return python
    if not os.environ.get("FATHOM_FULL"):
        raise Skip(f"no Python that is here has {framework}; tests/run --full installs it")
    return str(environment(f"framework-{framework}", str(HERE / FILES[framework])) / "python")


def runs(python: str, framework: str, program: Path, *words: str) -> List[str]:
    return [python, "-W", "ignore", "-m", f"fathom.{framework}", str(program), *words]


def said_alone(python: str, program: Path, *words: str, env: Dict[str, str]) -> str:
    return ran(python, "-W", "ignore", program, *words, env=env)

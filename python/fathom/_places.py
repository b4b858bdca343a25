# SPDX-License-Identifier: MIT
"""Where the libraries and the program lie."""

from __future__ import annotations

import os

from fathom._error import Error

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def folders() -> list[str]:
    """A build that was named, the installed package, the tree's build."""
    named = os.environ.get("FATHOM_BUILD")
    if named:
        return [named]
    tree = os.path.dirname(os.path.dirname(_PACKAGE))
    return [os.path.join(_PACKAGE, "lib"), os.path.join(tree, "build")]


def packages() -> str:
    """The folder in which this package lies, and others beside it."""
    return os.path.dirname(_PACKAGE)


def find(name: str) -> str:
    looked = folders()
    for folder in looked:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    hint = "install the package, or name a build in FATHOM_BUILD"
    raise Error(f"there is no {name} in {' or '.join(looked)}", hint, "not_found")

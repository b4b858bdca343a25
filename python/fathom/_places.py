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


def own_folder(name: str = "python") -> list[str]:
    """Where `fathom python add` builds; nothing where others could have put something there."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    last = os.path.join(data, "fathom", name)
    if not os.path.isdir(last):
        return []
    last = at = os.path.realpath(last)
    while True:
        facts = os.lstat(at)
        shared = facts.st_mode & 0o002 or (facts.st_mode & 0o020 and facts.st_gid != facts.st_uid)
        sticky = facts.st_mode & 0o1000 and at != last
        if facts.st_uid not in (0, os.geteuid()) or (shared and not sticky):
            return []
        if at == "/":
            return [last]
        at = os.path.dirname(at)


def find(name: str) -> str:
    looked = folders()
    for folder in looked:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    hint = "install the package, or name a build in FATHOM_BUILD"
    raise Error(f"there is no {name} in {' or '.join(looked)}", hint, "not_found")

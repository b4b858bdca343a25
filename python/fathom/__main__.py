# SPDX-License-Identifier: MIT
"""The program `fathom`, as the package brings it: `fathom run …` and `python -m fathom run …`, `datacrumbs`, and
profiling-framework's programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from fathom import _distributions
from fathom._error import Error
from fathom._places import find, packages


def program() -> str:
    try:
        return find("fathom")
    except Error as error:
        print(f"fathom: {error}", file=sys.stderr)
        sys.exit(3)


def datacrumbs() -> NoReturn:
    """The program knows by its name that it is meant so; a wheel has no links."""
    os.execv(program(), ["datacrumbs", *sys.argv[1:]])


def profiling_framework() -> NoReturn:
    """As datacrumbs: the name by which a script was started says which of these programs is meant."""
    os.execv(program(), [Path(sys.argv[0]).name, *sys.argv[1:]])


def main() -> NoReturn:
    path = program()
    if sys.argv[1:2] in (["run"], ["doctor"]):
        _distributions.say_what_is_foreign(packages())
        sys.stderr.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()

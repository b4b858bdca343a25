# SPDX-License-Identifier: MIT
"""`%%fathom` in a notebook."""

import json
import sys
from pathlib import Path

from kit import Skip, expect, ran
from test_annotations import PROGRAMS, one_column, pythons
from world import need


def test_cells_are_traced_and_nothing_between_them(root: Path) -> None:
    need("IPython")
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if version not in pythons():
        raise Skip(f"there is no extension for Python {version}")
    trace = root / "cells.fathom"
    said = ran(sys.executable, PROGRAMS / "cells.py", trace, env={"IPYTHONDIR": str(root / "ipython")})
    total, first, second = json.loads(said.splitlines()[-1])
    inner = "work.<locals>.<genexpr>"
    calls = {"work": 1, "part": 10, inner: 11}
    expect("total", 328350, total)
    expect("first", {**calls, "part": 100, inner: 101}, {name: first.get(name) for name in calls})
    expect("second", calls, {name: second.get(name) for name in calls})
    traced = "SELECT count(*) FROM events WHERE layer = 'python' AND name = 'part'"
    expect("in both cells alone", [110], one_column(trace, traced))

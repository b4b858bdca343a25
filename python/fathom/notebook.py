# SPDX-License-Identifier: MIT
"""`%%fathom` before a cell: it runs as it would, every function in it is traced, and a table says where time went.

The first one loads the library into the kernel and begins a recording, of FATHOM_OUT where that is set; between such
cells nothing of Python is traced. Under `fathom run --layers +python` cells are parts of that recording.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fathom
from fathom._error import Error
from fathom._places import find

if TYPE_CHECKING:
    from fathom import _record
    from fathom.result import Result
else:
    from fathom.annotate import _record

_cells = 0
_own = False  # the recording is ours: between cells nothing is traced
# What shows values.
_MACHINERY = "^(IPython|ipykernel|traitlets|fathom)([.].*)?$"
# Around a cell its text is translated and compiled: its own code begins with the first function of __main__.
_TABLE = """WITH around AS (SELECT pid, tid, ts, ts + dur AS over FROM events WHERE layer = 'app' AND name = ?),
cell AS (SELECT e.pid, min(e.ts) AS ts, max(e.ts + e.dur) AS over FROM events e JOIN around a ON e.pid = a.pid
    AND e.tid = a.tid AND e.ts >= a.ts AND e.ts + e.dur <= a.over
    WHERE e.layer = 'python' AND e.category = '__main__' GROUP BY e.pid)
SELECT e.name AS name, coalesce(e.category, '') AS module, count(*) AS calls, sum(e.dur) AS time, sum(e.self) AS self
FROM events e JOIN cell ON e.pid = cell.pid AND e.ts >= cell.ts AND e.ts + e.dur <= cell.over
WHERE e.layer != 'app' AND NOT regexp_matches(coalesce(e.category, ''), ?)
GROUP BY e.name, e.category ORDER BY self DESC LIMIT ?"""


def register(shell: Any) -> None:
    shell.register_magic_function(lambda line, cell: _run(shell, line, cell), "cell", "fathom")


def _options(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="%%fathom", description="traces the functions of a cell", add_help=False)
    parser.add_argument("-o", "--output", help="the recording's directory, with the first cell")
    parser.add_argument("--top", type=int, default=20, help="rows of the table (20)")
    try:
        return parser.parse_args(shlex.split(line))
    except SystemExit:
        raise Error("%%fathom takes -o DIR and --top N", "", "usage") from None


def _begin(output: str | None) -> str:
    """The directory of the recording, which is begun where there is none."""
    out = os.environ.get("FATHOM_OUT")
    if _record.is_bound() and out:
        if output:
            raise Error(f"this kernel records into {out}", "leave -o out, or restart the kernel", "usage")
        return out
    folder = Path(output or out or Path(tempfile.mkdtemp(prefix="fathom-")) / "notebook.fathom")
    out = os.environ["FATHOM_OUT"] = str(folder.absolute())
    os.environ.setdefault("FATHOM_LAYERS", "app,python,stdio,posix")
    if not _record.load(find("libfathom.so")):
        raise Error("there is no extension of Fathom for this Python", "install the package with it", "unsupported")
    sys.audit("fathom.begin")  # the library meets the interpreter at its next event
    _pause()
    print(f"fathom: recording into {out}", file=sys.stderr)
    return out


def _pause() -> None:
    global _own
    _own = True
    _record.tracing(False)


def _run(shell: Any, line: str, cell: str) -> Result | None:
    global _cells
    options = _options(line)
    out = _begin(options.output)
    _cells += 1
    name = f"cell {_cells} at {time.time_ns()}"
    traces = _record.tracing(True)
    try:
        with fathom.region(name):
            done = shell.run_cell(cell)
    finally:
        if _own:
            _pause()
    if not traces:
        print("fathom: functions of Python are not traced here; fathom info shows why", file=sys.stderr)
    if not done.success:
        return None
    return fathom.open(out).sql(_TABLE, name, _MACHINERY, options.top)

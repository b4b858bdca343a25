# SPDX-License-Identifier: MIT
"""The notebooks of docs/ run from top to bottom on a recording made here, and are kept without outputs."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict

import fathom
from kit import FATHOM, TOP, Failure, expect, ran
from world import imported, need

WORK = "for i in 1 2 3; do head -c 100000 /dev/zero > $0/in-$i; cat $0/in-$i > $0/out-$i; done"


def executed(name: str, root: Path) -> Dict[str, Any]:
    need("nbclient", "nbformat", "ipykernel", "pandas", "matplotlib", "dask")
    import nbclient
    import nbformat

    os.environ.update(JUPYTER_PLATFORM_DIRS="1", IPYTHONDIR=str(root / "ipython"))
    os.environ.pop("MPLBACKEND", None)  # the kernel has a backend of its own, which shows drawings in the notebook
    notebook = nbformat.read(TOP / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(root)}})
    client.extra_arguments = ["--IPKernelApp.log_level=ERROR"]
    client.execute()
    return notebook


def outputs(notebook: Dict[str, Any], kind: str) -> str:
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    data = [output.get("data", {}) for cell in cells for output in cell["outputs"]]
    return "".join(one[kind] for one in data if kind in one)


def test_events(root: Path) -> None:
    ran(FATHOM, "run", "-q", "-o", root / "demo.fathom", "--", "sh", "-c", WORK, root)
    notebook = executed("events", root)
    with fathom.open(root / "demo.fathom") as recording:
        events = recording.events.count()
        expect("the count that it shows", True, f"('complete', {events})" in outputs(notebook, "text/plain"))
    shown = outputs(notebook, "text/html")
    expect("a file that was read", True, f"{root}/in-1" in shown)
    expect("drawings", 4, sum("image/png" in str(cell) for cell in notebook["cells"]))


def test_counters(root: Path) -> None:
    lines = [
        "fathom recording 1",
        'run host=a start=5 duration=1000000000 command="work"',
        'process 7 name=work command="work"',
    ]
    for step in range(10):
        lines.append(f"counter 7 {step * 100_000_000} resource rss {(step + 1) * 2**20} unit=bytes")
        lines.append(
            f"interval 7/7 {step * 100_000_000} +100000000 syscall read calls={step + 1} dur={step + 5} bytes=3"
        )
    imported(root, "demo", "\n".join(lines) + "\n")
    notebook = executed("counters", root)
    expect("calls", True, "55" in outputs(notebook, "text/html"))
    expect("a drawing", 1, sum("image/png" in str(cell) for cell in notebook["cells"]))


def test_no_outputs_are_kept(root: Path) -> None:
    for path in sorted((TOP / "docs" / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            if cell.get("outputs") or cell.get("execution_count"):
                raise Failure(
                    f"{path.name} is kept with outputs; clear them ({sys.executable} -m nbconvert --clear-output)"
                )

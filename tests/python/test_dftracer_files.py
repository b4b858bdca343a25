# SPDX-License-Identifier: MIT
"""Which files the drop-in for DFTracer writes, and whether programs find them the way DLIO does."""

import re
import sys
from itertools import chain
from pathlib import Path
from typing import Dict, List

from kit import expect, ran
from test_dftracer import lines_of, settings

# A rank as DLIO runs it: it names its log, and its workers, which fork, begin again without a name.
RANK = """
import os
import sys
%s
log = dftracer.initialize_log(logfile=sys.argv[1], data_dir=None, process_id=0)
work = dft_fn("WORK")

@work.log
def item():
    pass

@work.log
def train():
    child = os.fork()
    if child == 0:
        log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=1)
        item()
        log.finalize()
        os._exit(0)
    os.waitpid(child, 0)

train()
log.finalize()
"""
IMPORTS = {
    "1": "from dftracer.logger import dftracer, dft_fn",
    "2": "from dftracer.python import dftracer, dft_fn",
    "native": """
from dftracer.python import dft_fn
import dftracer.dftracer as native
class dftracer:
    finalize = staticmethod(native.finalize)
    @staticmethod
    def initialize_log(logfile, data_dir, process_id):
        native.initialize(logfile, data_dir, process_id)
        return dftracer
""",
}


def run_rank(root: Path, imported: str, log: str, **variables: str) -> Dict[str, List[str]]:
    """The files that were left, with the names of the program's events."""
    root.mkdir()
    known = {**settings(root, TRACE_COMPRESSION="0", LOG_FILE=""), **variables}
    ran(sys.executable, "-c", RANK % IMPORTS[imported], root / log, env=known)
    files = sorted(path for path in root.iterdir() if ".pfw" in path.name and path.is_file())
    return {path.name: [line["name"] for line in lines_of(path) if line["cat"] == "WORK"] for path in files}


def kinds(files: Dict[str, List[str]]) -> Dict[str, List[str]]:
    """With N for the hash or the number of the process."""
    return {re.sub(r"-([0-9a-f]{16}|[0-9]+)(?=[-.])", "-N", name): events for name, events in files.items()}


def main_files(files: Dict[str, List[str]]) -> List[str]:
    """As DLIO looks for the file of rank 0 of one."""
    return [name for name in files if "-of-" in name and "-app.pfw" not in name and "trace-0-of-1.pfw" in name]


def test_ending_of_the_named_file_goes_first(root: Path) -> None:
    wanted = {"t.x-N-app.pfw": ["train"], "t.x-N-fork.pfw": ["item"]}
    for imported in ("2", "native"):
        expect(imported, wanted, kinds(run_rank(root / imported, imported, "t.x.pfw")))


def test_variable_says_the_generation_whatever_was_imported(root: Path) -> None:
    wanted = {"t.pfw": ["train"], "t-N.pfw": ["item"]}
    expect("generation 1", wanted, kinds(run_rank(root / "one", "2", "t.pfw", FATHOM_DFTRACER="1")))
    wanted = {"t-N-app.pfw": ["train"], "t-N-fork.pfw": ["item"]}
    expect("generation 2", wanted, kinds(run_rank(root / "two", "1", "t.pfw", FATHOM_DFTRACER="2")))


def test_ranks_are_found_as_dlio_finds_them(root: Path) -> None:
    log = "trace-0-of-1.pfw"
    for place, imported, variables in (("1", "1", {}), ("asked", "2", {"FATHOM_DFTRACER": "1"})):
        files = run_rank(root / place, imported, log, **variables)
        expect("the rank's file", [log], main_files(files))
        expect("its events", ["train"], files[log])
        expect("all events", ["item", "train"], sorted(chain(*files.values())))
        expect("endings", {".pfw"}, {Path(name).suffix for name in files})
    files = run_rank(root / "2", "2", log)
    expect("no worker's file is taken for the rank's", [], main_files(files))
    expect("all events", ["item", "train"], sorted(chain(*files.values())))

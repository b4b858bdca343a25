# SPDX-License-Identifier: MIT
"""Runs every `test_…` of test_*.py with a folder of its own; called by tests/python/run."""

import argparse
import contextlib
import importlib
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Callable, List, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "formats"), str(HERE.parent)]

from jobs import part_of, print_slowest  # noqa: E402
from kit import Failure, Skip  # noqa: E402


def tests_of(part: str) -> List[Tuple[str, Callable[[Path], None]]]:
    found = []
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for name, value in vars(module).items():
            if name.startswith("test_") and callable(value) and part in f"{path.stem}.{name}":
                found.append((f"{path.stem}.{name}", value))
    return found


def run_one(name: str, test: Callable[[Path], None]) -> str:
    root = Path(tempfile.mkdtemp(prefix="fathom-python-"))
    try:
        test(root)
    except Skip as reason:
        print(f"skip {name}: {reason}", flush=True)
        return "skipped"
    except Failure as failure:
        print(f"FAIL {name}: {failure}", flush=True)
        return "failed"
    except Exception:
        print(f"FAIL {name}: {traceback.format_exc()}", flush=True)
        return "failed"
    finally:
        shutil.rmtree(root, ignore_errors=True)  # a collector may still be writing there
    print(f"ok {name}", flush=True)
    return "passed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", metavar="PART", default="", help="only tests whose name holds PART")
    parser.add_argument("--part", metavar="I/N", default="", help="only each Nth of them, from the Ith on")
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with contextlib.suppress(Failure, Skip):  # who needs them will say so
        importlib.import_module("test_annotations").pythons()  # before any test loads what this makes anew
    seconds: List[Tuple[float, str]] = []
    for name, test in part_of(tests_of(options.k), options.part):
        begin = time.monotonic()
        counts[run_one(name, test)] += 1
        seconds.append((time.monotonic() - begin, name))
    print_slowest(seconds)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

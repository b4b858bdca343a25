# SPDX-License-Identifier: MIT
"""Runs every `test_…` of test_*.py with a folder of its own; called by tests/python/run."""

import argparse
import importlib
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Callable, List, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "formats")]

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
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, test in tests_of(parser.parse_args().k):
        counts[run_one(name, test)] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

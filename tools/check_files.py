#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what every source file owes the house: a licence line, and a size that can be read.

More than 400 lines are mentioned, more than 800 are an error.
usage: tools/check_files.py
"""

import subprocess
import sys
from pathlib import Path
from typing import Iterator, List

ROOT = Path(__file__).parent.parent
SOURCES = {".cc", ".c", ".h", ".hpp", ".py", ".sh", ".ts", ".tsx", ".cmake"}
WANTED_LINES = 400
MOST_LINES = 800


def source_files() -> Iterator[Path]:
    """The repository's own source files, new ones too."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.suffix in SOURCES and path.is_file():
            yield path


def problems_of(lines: List[str]) -> Iterator[str]:
    if not any("SPDX-License-Identifier:" in line for line in lines[:3]):
        yield "no SPDX-License-Identifier in its first lines"
    if len(lines) > MOST_LINES:
        yield f"{len(lines)} lines; {MOST_LINES} are the limit, split it"


def main() -> int:
    failures = 0
    count = 0
    for path in source_files():
        count += 1
        lines = path.read_text(errors="replace").splitlines()
        name = path.relative_to(ROOT)
        for problem in problems_of(lines):
            print(f"{name}: {problem}")
            failures += 1
        if WANTED_LINES < len(lines) <= MOST_LINES:
            print(f"{name}: warning: {len(lines)} lines; {WANTED_LINES} are wanted")
    print(f"check_files: {count} files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

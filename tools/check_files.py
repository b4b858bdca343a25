#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what every source file owes the house: a licence line, and a size that can be read.

More than 400 lines are mentioned, more than 800 are an error. Files of the product in C, C++ and TypeScript say
after the licence line what they do, why they are files of their own, or what to read next.
usage: tools/check_files.py
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List

ROOT = Path(__file__).parent.parent
SOURCES = {".cc", ".c", ".h", ".hpp", ".py", ".sh", ".ts", ".tsx", ".js", ".cjs", ".cmake"}
WANTED_LINES = 400
MOST_LINES = 800

# The product's own code. Tests, benchmarks and fuzzers are named after what they test.
PRODUCT = re.compile(r"^(src|include|web/src)/.*\.(cc|c|h|hpp|ts|tsx|js)$")
OF_TESTS = re.compile(r"(_(test|bench|fuzz)\.cc|\.test\.tsx?)$|/(tests|testing)/")
# What may stand between the licence line and the opening comment, and what is no sentence for readers.
SKIPPED = re.compile(r"^\s*(#pragma once)?\s*$")
FOR_TOOLS = re.compile(r"^(//|/\*)\s*(NOLINT|clang-format|eslint-|@ts-)")


def source_files() -> Iterator[Path]:
    """The repository's own source files, new ones too."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.suffix in SOURCES and path.is_file():
            yield path


def has_opening_comment(lines: List[str]) -> bool:
    licence = next((i for i, line in enumerate(lines[:3]) if "SPDX-License-Identifier:" in line), -1)
    goes_on = licence >= 0 and lines[licence].startswith("/*") and "*/" not in lines[licence]
    for line in lines[licence + 1 :]:
        text = line.strip()
        if SKIPPED.match(text):
            continue
        if goes_on:
            return text.strip("*/ ") != ""
        return text.startswith(("//", "/*")) and not FOR_TOOLS.match(text)
    return False


def problems_of(name: str, lines: List[str]) -> Iterator[str]:
    if PRODUCT.search(name) and not OF_TESTS.search(name) and not has_opening_comment(lines):
        yield "no opening comment: after the licence line, say what this file does or why it is one of its own"
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
        name = path.relative_to(ROOT).as_posix()
        for problem in problems_of(name, lines):
            print(f"{name}: {problem}")
            failures += 1
        if WANTED_LINES < len(lines) <= MOST_LINES:
            print(f"{name}: warning: {len(lines)} lines; {WANTED_LINES} are wanted")
    print(f"check_files: {count} files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

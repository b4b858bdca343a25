#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what every source file owes the house: a licence line, and a size that can be read.

More than 400 lines are mentioned, more than 800 are an error. Files of the product in C, C++ and TypeScript say
after the licence line what they do, why they are files of their own, or what to read next. No file points readers to
something that the repository does not have: a section of a design document, or a link that leads out of it. The
README.md of a room names only files that exist.
usage: tools/check_files.py
"""

import os
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

# What no reader of the repository has.
OF_A_DESIGN = re.compile(r"\bDESIGN(\.md)?\b\W{1,4}(section|chapter|law|§)")
LINK = re.compile(r"\]\(([^)\s:#]+)[^)\s:]*\)")
OF_CHECKS = ("tools/check_files.py", "tools/checks_test.py")
# In marks of code, with nothing else in them.
NAMED_FILE = re.compile(r"`([\w][\w./*-]*\.(?:cc|c|h|hpp|sql|py|ts|tsx|sh|ld|map))`")
OF_OTHERS = re.compile(r"(linux/.*|Python\.h)$")


def own_files() -> Iterator[Path]:
    """The repository's own files, new ones too."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    yield from (ROOT / name for name in filter(None, listed.split("\0")) if (ROOT / name).is_file())


def leads_out(name: str, target: str) -> bool:
    place = Path(name).parent / target
    return target.startswith("/") or os.path.normpath(place).startswith("..")


def far_references(name: str, text: str) -> Iterator[str]:
    if name in OF_CHECKS:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if OF_A_DESIGN.search(line):
            yield f"line {number}: a section of DESIGN, which no reader has; say the fact, or name a page of docs/"
        if not name.endswith(".md"):
            continue
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if leads_out(name, target):
                yield f"line {number}: {target} leads out of the repository"


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


def unknown_files(root: Path, readme: Path) -> Iterator[str]:
    """Files that the README.md of a room names, or patterns of names, of which there are none."""
    house = root / "src" / readme.relative_to(root / "src").parts[0]
    for name in NAMED_FILE.findall(readme.read_text()):
        known = any(house.rglob(name)) or any(any(folder.glob(name)) for folder in (root / "src", root))
        if not known and not OF_OTHERS.match(name):
            yield name


def main() -> int:
    failures = 0
    count = 0
    for path in own_files():
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        name = path.relative_to(ROOT).as_posix()
        is_source = path.suffix in SOURCES
        count += is_source
        for problem in [*far_references(name, text), *(problems_of(name, lines) if is_source else ())]:
            print(f"{name}: {problem}")
            failures += 1
        if is_source and WANTED_LINES < len(lines) <= MOST_LINES:
            print(f"{name}: warning: {len(lines)} lines; {WANTED_LINES} are wanted")
    for readme in sorted((ROOT / "src").rglob("README.md")):
        for name in unknown_files(ROOT, readme):
            print(f"{readme.relative_to(ROOT)}: names `{name}`, which is not there")
            failures += 1
    print(f"check_files: {count} files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

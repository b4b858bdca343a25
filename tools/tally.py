#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up the results that tools/test.sh collected, and prints one line about all of them.

A step NAME left NAME.status (its exit status) and NAME.log. Where ctest ran there are also
NAME.junit and a folder NAME with the XML of each part of a GoogleTest program; otherwise the last line
`N passed, N failed[, N skipped]` of the log counts. A step that failed without saying what
failed counts as one failure.
usage: tools/tally.py FOLDER
"""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import List, NamedTuple, Optional

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", re.MULTILINE)


class Tally(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: "Tally") -> "Tally":
        return Tally(*(a + b for a, b in zip(self, other)))


def of_gtest_xml(path: Path) -> Optional[Tally]:
    """Cases of one GoogleTest program; None where it died before it wrote them."""
    try:
        cases = list(ET.parse(path).getroot().iter("testcase"))
    except (OSError, ET.ParseError):
        return None
    failed = sum(1 for case in cases if case.find("failure") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return Tally(len(cases) - failed - skipped, failed, skipped)


def of_ctest(junit: Path, folder: Path) -> Tally:
    total = Tally()
    for case in ET.parse(junit).getroot().iter("testcase"):
        ok = case.get("status") == "run"
        cases = of_gtest_xml(folder / f"{case.get('name')}.xml")
        if cases is None or (not ok and cases.failed == 0):
            cases = Tally(1, 0, 0) if ok else Tally(0, 1, 0)
        total = total.plus(cases)
    return total


def of_log(log: Path) -> Tally:
    found: List[tuple] = SUMMARY.findall(log.read_text(errors="replace"))
    return Tally(*(int(number or 0) for number in found[-1])) if found else Tally()


def of_step(status: Path) -> Tally:
    junit = status.with_suffix(".junit")
    log = status.with_suffix(".log")
    tally = of_ctest(junit, status.with_suffix("")) if junit.is_file() else of_log(log)
    if int(status.read_text()) != 0 and tally.failed == 0:
        tally = tally.plus(Tally(0, 1, 0))
    return tally


def main() -> int:
    total = Tally()
    for status in sorted(Path(sys.argv[1]).glob("*.status")):
        step = of_step(status)
        if step.failed:
            print(f"{status.stem}: {step.failed} failed")
        total = total.plus(step)
    line = f"{total.passed} passed, {total.failed} failed"
    print(line + (f", {total.skipped} skipped" if total.skipped else ""))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Counts on regions and functions of Python (--region-events)."""

from pathlib import Path

from kit import FATHOM, Failure, answers, expect, ran
from test_annotations import pythons

PAGES = 400
PROGRAM = f"""
import mmap
import fathom
rooms = []
def touch():
    room = mmap.mmap(-1, 4096 * {PAGES})
    rooms.append(room)
    for page in range({PAGES}):
        room[4096 * page] = 1
def rest():
    return sum(range(1000))
with fathom.region("annotated"):
    touch()
touch()
rest()
"""
COUNTS = "SELECT name, layer, CAST(args['page-faults'] AS BIGINT) AS faults, args['line'] AS line FROM events"


def test_regions_and_functions_have_counts(root: Path) -> None:
    for version, python in pythons().items():
        trace = root / "counted.fathom"
        options = ["--layers", "app,python", "--python-modules", "__main__"]
        options += ["--region-events", "page-faults,task-clock"]
        ran(FATHOM, "run", "-q", "--force", "-o", trace, *options, "--", python, "-c", PROGRAM)
        where = f"{COUNTS} WHERE name IN ('annotated', 'touch', 'rest') ORDER BY ts"
        (told,) = answers(trace, where)
        names = [(row["name"], row["layer"]) for row in told]
        wanted = [("annotated", "app"), ("touch", "python"), ("touch", "python"), ("rest", "python")]
        expect(f"Python {version}", wanted, names)
        faults = [row["faults"] for row in told]
        if not all(PAGES <= number <= PAGES + 200 for number in faults[:3]) or faults[3] > 50:
            raise Failure(f"Python {version}: faults {faults} of {names}")
        expect(f"Python {version}, places", True, all(row["line"] for row in told if row["layer"] == "python"))

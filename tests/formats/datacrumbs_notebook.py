# SPDX-License-Identifier: MIT
"""DataCrumbs' notebook on our lines: the same numbers as SQL on the recording, and those that its text says."""

from pathlib import Path

from kit import FATHOM, answers, expect, ran
from notebook import QUESTIONS, lines_of
from notebook import answers as notebook_answers

# Two processes; the second interval has one of them. read of 7 takes 3 us + 1 us, of 8 5 us.
TEXT = """fathom recording 1
run host=alpha start=1700000000000000000 duration=2000000000
process 7 name=writer start=0 end=2000000000
process 8 name=reader start=0 end=2000000000
interval 7/7 0 +1000000000 syscall read calls=3 dur=3000 bytes=300 file=/data/in
interval 7/9 0 +1000000000 syscall read calls=1 dur=1000 bytes=100 file=/data/in
interval 8/8 0 +1000000000 syscall read calls=2 dur=5000 bytes=20 file=/data/é
interval 7/7 1000000000 +1000000000 syscall read calls=5 dur=2000 bytes=5
interval 7/7 0 +1000000000 pagecache add calls=4 dur=0
interval 7/7 1000000000 +1000000000 fs write calls=6 dur=9000 bytes=60 file=/data/out
"""


def test_datacrumbs_notebook_finds_the_same_numbers(root: Path) -> None:
    text, trace, lines = root / "two.txt", root / "two.fathom", root / "profile.pfw"
    text.write_text(TEXT)
    ran(FATHOM, "import", text, "-o", trace)
    ran(FATHOM, "export", trace, "--format", "pfw", "--dialect", "datacrumbs", "-o", lines)
    found = notebook_answers(lines_of(lines))
    expect("by SQL", [[list(row.values()) for row in rows] for rows in answers(trace, *QUESTIONS)], found)
    expect("calls and bytes", [["fs write", 6, 60], ["os_cache add", 4, 0], ["sys read", 11, 425]], found[0])
    expect("of the busiest process", ["sys read", 6000], found[1][2])
    expect("the busiest of each interval", ["sys read", 7000], found[2][2])
    expect("files", [["/data/in", 4], ["/data/out", 6], ["/data/é", 2]], found[3])
    expect("intervals, from the first to the last", [[2, 1000000]], found[4])


def test_datacrumbs_notebook_reads_what_comes_back(root: Path) -> None:
    """Our lines, imported: unknown files and sizes stay unknown."""
    text, trace, lines = root / "two.txt", root / "two.fathom", root / "profile.pfw"
    text.write_text(TEXT)
    ran(FATHOM, "import", text, "-o", trace)
    ran(FATHOM, "export", trace, "--format", "pfw", "--dialect", "datacrumbs", "-o", lines)
    ran(FATHOM, "import", lines, "-o", root / "back.fathom")
    sql = "SELECT file, bytes, CAST(sum(calls) AS BIGINT) AS n FROM intervals GROUP BY ALL ORDER BY n, file"
    both = [answers(one, sql)[0] for one in (trace, root / "back.fathom")]
    expect("rows", both[0], both[1])

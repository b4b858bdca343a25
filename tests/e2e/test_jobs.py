# SPDX-License-Identifier: MIT
"""The runner of these tests: it hides no failure, and it does not take a busy machine for one."""

import contextlib
import io
import sys
import time

import kit
from jobs import Counts, Job, closing_line, counts_of_closing_line, run, with_unsteady
from kit import Box, Failure, check, check_true


def job(name: str, first: Counts, second: Counts) -> Job:
    return Job(name, lambda: first, again=lambda: second)


def test_a_failure_that_is_not_repeated_is_told(_: Box) -> None:
    said = io.StringIO()
    part = job("part", {"passed": 9, "failed": 1}, {"passed": 10})
    with contextlib.redirect_stdout(said):
        counts = run([part, job("good", {"passed": 1}, {}), job("bad", {"failed": 1}, {"failed": 1})], 2)
    check("counts", {"passed": 10, "failed": 1, "skipped": 0, "unsteady": 1}, counts)
    check_true(f"it is named at the end: {said.getvalue()!r}", "unsteady: part failed beside" in said.getvalue())
    check_true("the others are not", said.getvalue().count("unsteady: ") == 1)


def test_each_test_counts_once(_: Box) -> None:
    cases = (
        ({"passed": 1}, 0, {"passed": 1, "unsteady": 0}),
        ({"skipped": 1}, 1, {"skipped": 0, "unsteady": 1}),
        ({"passed": 3, "failed": 1}, 2, {"passed": 2, "failed": 1, "unsteady": 1}),
        ({"passed": 3, "failed": 2}, 1, {"passed": 3, "failed": 2, "unsteady": 0}),
    )
    for second, before, wanted in cases:
        check(f"{second} after {before}", {"passed": 0, "skipped": 0, **wanted}, with_unsteady(second, before))


def test_the_closing_line_is_read_back(_: Box) -> None:
    for unsteady in (0, 2):
        counts = {"passed": 3, "failed": 0, "skipped": 1, "unsteady": unsteady}
        check("counts", counts, counts_of_closing_line(f"1 passed, 9 failed\n{closing_line(counts)}\n"))
    check(
        "of a kit",
        {"passed": 5, "failed": 1, "skipped": 0, "unsteady": 0},
        counts_of_closing_line("5 passed, 1 failed"),
    )
    check("of one that died", None, counts_of_closing_line("what"))


def test_who_works_is_waited_for_and_who_hangs_is_not(box: Box) -> None:
    """The test's patience is counted in work done, not in seconds: a busy machine is slow."""
    before = kit.TIMEOUT_S, kit.IDLE_TICKS
    kit.TIMEOUT_S, kit.IDLE_TICKS = 2, 5
    try:
        works = "import time\nwhile time.process_time() < 3: pass\nprint('done')"
        check("output of one that works", b"done\n", box.run(sys.executable, "-c", works))
        begin = time.monotonic()
        try:
            box.run(sys.executable, "-c", "import time; time.sleep(60)")
        except Failure as failure:
            check_true(f"{failure} names what hangs", "no end, and no work" in str(failure))
        check_true("one that hangs is given up", time.monotonic() - begin < 50)
    finally:
        kit.TIMEOUT_S, kit.IDLE_TICKS = before

# SPDX-License-Identifier: MIT
"""Layer cpu: stacks and names, however a program was built, loaded, and made to end."""

from pathlib import Path

from kit import Box, Skipped, check, check_true

ALONE = "rings that overflow because of others are no news"
RATE = "997"


def record(box: Box, *command: object, rate: str = RATE) -> bytes:
    """A program, sampled."""
    out = box.record(*command, options=("--force", "--layers", "+cpu", "--sample", rate))
    if box.value("SELECT state FROM layers WHERE layer = 'cpu'") not in ("on", "partial"):
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    return out


def stacks_with(box: Box, function: str) -> list[tuple[list[str], int]]:
    """Functions outermost first, and how many samples, of each stack that has this one."""
    rows = box.rows(f"""
        SELECT list("function" ORDER BY depth), (SELECT count(*) FROM samples s WHERE s.stack = f.stack AND
               s.event = 'cpu-clock') FROM (SELECT DISTINCT stack, depth, "function" FROM frames) f GROUP BY f.stack
        HAVING bool_or("function" = '{function}')""")
    return [(list(functions), int(count)) for functions, count in rows]


def test_recursion(box: Box) -> None:
    """A stack is whole, or losses tell that it is not; nothing is made up."""
    dives = box.kit.victim("dives", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    for depth in (50, 10_000):
        record(box, dives, str(depth))
        stacks = stacks_with(box, "bottom")
        samples = sum(count for _, count in stacks)
        whole = sum(count for functions, count in stacks if functions.count("dive") == depth + 1)
        cut = int(box.value("SELECT coalesce(sum(\"count\"), 0) FROM losses WHERE reason LIKE '%outermost%'"))
        check_true(f"{depth}: {whole} whole stacks and {cut} cut ones of {samples}", whole + cut >= 0.97 * samples > 0)
        deepest = max(functions.count("dive") for functions, _ in stacks)
        check_true(f"{depth}: {deepest} frames", deepest <= depth + 1)


def test_programs_that_end_at_once(box: Box) -> None:
    """Every one has its life and its time, and no record was lost, at a rate at which each has a sample or two."""
    script = 'i=0; while [ $i -lt 200 ]; do "$0"; i=$((i + 1)); done'
    record(box, "sh", "-c", script, Path("/bin/true"), rate="5000")
    check("losses", [], box.rows("SELECT layer, reason, \"count\" FROM losses WHERE layer = 'cpu'"))
    lives, sampled = box.values(
        "SELECT count(DISTINCT pid) FROM processes WHERE name = 'true'",
        "SELECT count(DISTINCT s.pid) FROM samples s JOIN processes p USING (pid) WHERE p.name = 'true' "
        "AND s.event = 'cpu-clock'",
    )
    check("programs, and those with samples", (200, 200), (int(lives), int(sampled)))

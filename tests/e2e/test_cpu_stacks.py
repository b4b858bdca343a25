# SPDX-License-Identifier: MIT
"""Layer cpu: stacks and names, however a program was built, loaded, and made to end."""

import re
import secrets
import shutil
import subprocess
import sys
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


def hot(box: Box) -> dict[str, int]:
    """Functions, and how long each ran itself (ms)."""
    return {name: int(ns) // 1_000_000 for name, ns in box.rows('SELECT "function", sum(self) FROM hot GROUP BY 1')}


def test_code_made_at_run_time(box: Box) -> None:
    """Memory that is used again has the name of that time, or none as long as the file does not tell which; the file is
    gone when the program ends."""
    record(box, box.kit.victim("compiled"))
    told = hot(box)
    first, second, unnamed = (told.get(name, 0) for name in ("first of two", "second of two", "unknown"))
    check_true(f"both took 200 ms: {told}", 120 <= first <= 260 and 50 <= second <= 260)
    check_true(f"what has no name is theirs: {told}", 280 <= first + second + unnamed <= 520)
    check("modules", [("[jit]",)], box.rows("SELECT DISTINCT module FROM frames WHERE \"function\" LIKE '% of two'"))


SCRIPT = """
function churn(n) { let x = 0; for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }
const end = Date.now() + 1000;
while (Date.now() < end) churn(300000);
"""


def test_node(box: Box) -> None:
    """By a perf map, and by jitdump."""
    node = shutil.which("node")
    if not node:
        raise Skipped("no node here")
    script = box.root / "churn.js"
    script.write_text(SCRIPT)
    for option in ("--perf-basic-prof", "--perf-prof"):
        record(box, node, option, script)
        churned, whole = box.values(
            "SELECT coalesce(sum(self), 0) FROM hot WHERE \"function\" LIKE '%churn%'", "SELECT sum(self) FROM hot"
        )
        remove_maps(box)
        check_true(f"{option}: churn has most of the time ({churned} of {whole})", 2 * int(churned) > int(whole))


TRAMPOLINE = "import sys; sys.exit(not sys.is_stack_trampoline_active())"


def pythons_with_trampoline() -> list[Path]:
    found = [*(Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3"), Path(sys.executable)]
    asked = [(path, subprocess.run([path, "-X", "perf", "-c", TRAMPOLINE], capture_output=True)) for path in found]
    return [path for path, answer in asked if answer.returncode == 0]


def test_trampoline_of_python(box: Box) -> None:
    """Python 3.12 and later write a perf map where they are asked to."""
    script = box.root / "churn.py"
    script.write_text("def churn():\n    for i in range(2_000_000): i * i\nchurn()\n")
    pythons = pythons_with_trampoline()
    if not pythons:
        raise Skipped("no Python here has a trampoline")
    for python in pythons:
        record(box, python, "-X", "perf", script)
        names = box.rows('SELECT DISTINCT "function" FROM frames WHERE "function" LIKE \'%churn%\'')
        remove_maps(box)
        check_true(f"{python}: churn is in the stacks: {names}", bool(names))


def stripped(box: Box) -> tuple[Path, Path]:
    """A program without symbols, and a folder with them."""
    program, symbols = box.root / "stripped", box.root / "symbols"
    whole = box.kit.victim("sampled", "-fno-omit-frame-pointer", "-Wl,--build-id=0x" + secrets.token_hex(20))
    symbols.mkdir()
    subprocess.run(["objcopy", "--only-keep-debug", whole, symbols / "stripped.debug"], check=True)
    subprocess.run(["strip", "-o", program, whole], check=True)
    return program, symbols


def test_symbolized_later(box: Box) -> None:
    """On another machine, where the program itself is not: by build id, from a debug file alone."""
    program, symbols = stripped(box)
    record(box, program)
    check("functions that nobody can know", 0, len({"heavy", "light", "other"} & set(hot(box))))
    build_id = box.value("SELECT DISTINCT build_id FROM frames WHERE module LIKE '%/" + program.name + "'")
    program.unlink()
    empty = box.root / "empty"
    empty.mkdir()
    lacks = box.fathom("symbolize", box.trace, "--debug", empty).decode()
    check_true(f"what is missing, with its build id: {lacks}", f"{build_id}  {program}" in lacks)
    words = box.fathom("symbolize", box.trace, "--debug", symbols).decode()
    check_true(f"how many have a name now: {words}", re.match(r"[1-9]\d* frames? named, \d+ without a name\n", words))
    check("nothing to do", "0 frames named", box.fathom("symbolize", box.trace, "--debug", symbols).decode()[:14])
    check("quiet", b"", box.fathom("symbolize", "-q", box.trace, "--debug", symbols))
    told = hot(box)
    check_true(f"each has its name: {told}", all(told.get(name, 0) > 50 for name in ("heavy", "light", "other")))
    check("no file beside the tables", [], list(box.trace.glob("*.new")))
    box.fathom("symbolize", box.trace, "--debug", box.root / "nowhere", status=2)


def test_functions_of_a_stripped_program(box: Box) -> None:
    """One row for each, not one for each instruction: call frame information tells where a function begins."""
    program, _ = stripped(box)
    record(box, program)
    rows = box.rows("SELECT \"function\", self FROM hot WHERE module LIKE '%/stripped'")
    whole = sum(int(self) for _, self in rows)
    hottest = [name for name, self in rows if int(self) > 0.05 * whole]
    check(f"functions of {rows}", 3, len(hottest))
    check_true(f"by their begin: {hottest}", all(re.fullmatch(r"stripped\+0x[0-9a-f]+", name) for name in hottest))
    share = sum(int(self) for name, self in rows if name in hottest) / whole
    check_true(f"all of their time: {share}", share > 0.95)


def test_deleted_while_it_runs(box: Box) -> None:
    """A program whose file goes while it runs has its own names nevertheless."""
    program = box.root / "brief"
    shutil.copy2(box.kit.victim("sampled", "-fno-omit-frame-pointer"), program)
    record(box, "sh", "-c", '"$0" & sleep 0.2; rm "$0"; wait', program)
    told = hot(box)
    check_true(f"each has its name: {told}", all(told.get(name, 0) > 50 for name in ("heavy", "light", "other")))


def remove_maps(box: Box) -> None:
    """What JITs leave behind."""
    for (pid,) in box.rows("SELECT DISTINCT pid FROM processes"):
        Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)

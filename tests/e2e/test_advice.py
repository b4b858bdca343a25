# SPDX-License-Identifier: MIT
"""Programs with one known fault, and their mended twins: the first advice names the fault, its gain is what the twin
saves, and programs without a fault get none. A disk that sleeps (tests/victims/slow_disk.c) makes the faults cost time
that hardly depends on the machine."""

import json
from pathlib import Path
from statistics import median
from typing import Any

from kit import Box, check, check_true

ROUNDS = 3  # with --full, in turns with the twin; then the medians count
FACTOR = 2.0  # between what is promised and what is saved
ROUGH_FACTOR = 3.0  # for one round, on a machine that does other things


def prepare(box: Box) -> tuple[Path, dict[str, str]]:
    """The program, with its files made, and the variables that make the disk slow."""
    program = box.kit.victim("bottlenecks")
    box.run(program, "make")
    return program, {"LD_PRELOAD": str(box.kit.victim("slow_disk", "-shared", "-fPIC"))}


def advice_on(box: Box) -> list[dict[str, Any]]:
    found = json.loads(box.fathom("show", box.trace, "--format", "json"))
    return [one for one in found if one["severity"] != "good"]


def work_ns(box: Box, env: dict[str, str], *command: object) -> int:
    """Records it; what it says of its own time."""
    box.not_emulated("the disk is of this machine")
    told = box.run(box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--", *command, env=env)
    return int(told)


def check_fault(box: Box, rule: str) -> None:
    program, env = prepare(box)
    gains, saved = [], []
    for _ in range(ROUNDS if box.kit.full else 1):
        broken = work_ns(box, env, program, rule)
        found = advice_on(box)
        check(f"the first advice of {[(one['rule'], one['gain']) for one in found]}", rule, found[0]["rule"])
        duration = int(box.info()["duration_ns"])
        check("gains above the run's time", [], [one for one in found if (one["gain"] or 0) > duration])
        gains.append(found[0]["gain"])
        saved.append(broken - work_ns(box, env, program, rule, "mended"))
        left = sum(one["gain"] for one in advice_on(box) if one["rule"] == rule)
        check_true(f"the twin is told to save {left} ns more", left < gains[-1] / 2)
    promise, truth = median(gains), median(saved)
    factor = FACTOR if box.kit.full else ROUGH_FACTOR
    check_true(f"a gain of {promise} ns, where the twin saves {truth} ns", truth / factor <= promise <= truth * factor)


def test_small_reads(box: Box) -> None:
    check_fault(box, "small-reads")


def test_small_writes(box: Box) -> None:
    check_fault(box, "small-writes")


def test_a_sync_for_each_record(box: Box) -> None:
    check_fault(box, "sync-in-a-loop")


def test_a_file_opened_again_and_again(box: Box) -> None:
    check_fault(box, "open-close-churn")


def test_a_storm_of_stat(box: Box) -> None:
    check_fault(box, "repeated-stat")


def test_a_search_along_a_path(box: Box) -> None:
    check_fault(box, "failed-opens")


def test_random_reads(box: Box) -> None:
    check_fault(box, "random-reads")


def test_reading_that_could_overlap(box: Box) -> None:
    check_fault(box, "io-bound")


def test_a_file_for_each_record(box: Box) -> None:
    check_fault(box, "metadata-time")


def test_flushing_each_line(box: Box) -> None:
    check_fault(box, "flush-each-line")


def test_many_small_files(box: Box) -> None:
    check_fault(box, "many-small-files")


def test_the_same_bytes_again(box: Box) -> None:
    check_fault(box, "read-again")


def test_a_contended_lock(box: Box) -> None:
    check_fault(box, "lock-waits")


def test_one_slow_rank(box: Box) -> None:
    check_fault(box, "slow-rank")


def test_good_programs_get_no_advice(box: Box) -> None:
    """One that computes, one that reads large blocks, one with a pool of idle threads, and one that waits for words in
    a named pipe."""
    program, _ = prepare(box)
    for how in ("good-compute", "good-reads", "good-pool", "good-waits"):
        work_ns(box, {}, program, how)
        # (That others use the CPUs is not the program's doing.)
        check(f"advice to {how}", [], [one for one in advice_on(box) if one["rule"] != "waits-for-cpu"])
    words = box.finish(box.start(box.kit.fathom, "run", "--force", "-o", box.trace, "--", program, "good-reads"))[1]
    check_true(
        "nor in the summary", b"waits-for-cpu" in words or (b"advice" not in words and b"next: fathom report" in words)
    )


def test_modules_are_no_small_files(box: Box) -> None:
    """An interpreter that loads hundreds of modules from a slow disk has no small files of its own."""
    _, env = prepare(box)
    for number in range(1100):
        (box.dir / f"module{number}.py").write_text("pass\n")
    loads = (
        "import importlib, sys; sys.path.insert(0, '.'); [importlib.import_module(f'module{n}') for n in range(1100)]"
    )
    box.run(box.kit.fathom, "run", "-q", "-o", box.trace, "--", "python3", "-c", loads, env=env)
    about = [one for one in advice_on(box) if one["rule"] in ("many-small-files", "small-reads", "small-writes")]
    check("advice about modules", [], about)


def test_the_summary_has_the_first_advice(box: Box) -> None:
    """And what to type next; nothing with -q."""
    program, env = prepare(box)
    command = (box.kit.fathom, "run", "-o", box.trace, "--", program, "small-reads")
    words = box.finish(box.start(*command, env=env))[1].decode()
    check_true(f"the advice stands in {words}", "advice: Many small reads (small-reads)" in words)
    check_true("with the words of the report", advice_on(box)[0]["says"] in words)
    check_true("and the next command", f"next: fathom show {box.trace} small-reads\n" in words)
    quiet = box.finish(box.start(box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--", program, "small-reads"))
    check("words of a quiet run", b"", quiet[1])


def test_the_summary_fits_the_terminal(box: Box) -> None:
    program, env = prepare(box)
    command = (box.kit.fathom, "run", "-o", box.trace, "--", program, "small-reads")
    words = box.finish(box.start(*command, env={**env, "COLUMNS": "60"}))[1].decode()
    advice = words[words.index("advice:") : words.index("recorded in")]
    check("lines that are too long", [], [line for line in advice.splitlines() if len(line) > 60 and " " in line[4:]])

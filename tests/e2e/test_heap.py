# SPDX-License-Identifier: MIT
"""Layer heap: calls of the malloc family, counted where they are made, against what programs know of themselves."""

import json
import platform
import sys
from typing import Any

from jobs import may_take
from kit import Box, Skipped, check, check_true, write_run_header

HEAP = ("--layers", "+heap")
# Of one round of victims/heap.c: calls, errors and bytes by function.
ROUND = {
    "aligned_alloc": (1, 0, 128),
    "calloc": (2, 1, 210),
    "free": (10, 0, None),
    "malloc": (2, 1, 100),
    "memalign": (1, 0, 64),
    "posix_memalign": (2, 1, 300),
    "pvalloc": (1, 0, 12),
    "realloc": (2, 0, 5050),
    "reallocarray": (2, 1, 100),
    "valloc": (1, 0, 11),
}
SUMS = "CAST(sum(calls) AS BIGINT), CAST(sum(errors) AS BIGINT), CAST(sum(bytes) AS BIGINT)"
Counts = dict[str, tuple[int, int, int | None]]


def needs_heap(box: Box) -> None:
    box.not_emulated("the recorder chooses the library")


def unsupervised(box: Box) -> dict[str, str]:
    library = box.kit.build / "libfathom_heap.so"
    return {"LD_PRELOAD": str(library), "FATHOM_OUT": str(box.trace), "FATHOM_LAYERS": "app,heap"}


def counts_by(box: Box, key: str, where: str = "true") -> dict[Any, Counts]:
    """By process or thread."""
    found: dict[Any, Counts] = {}
    sql = f"SELECT {key}, name, {SUMS} FROM intervals WHERE layer = 'heap' AND {where} GROUP BY ALL ORDER BY ALL"
    for owner, name, calls, errors, size in box.rows(sql):
        found.setdefault(owner, {})[name] = (int(calls), int(errors), None if size is None else int(size))
    return found


def counts(box: Box, where: str = "true") -> Counts:
    return counts_by(box, "true", where).get(True, {})


def expected(rounds: int, of_key: int = 0) -> Counts:
    """`of_key`: blocks of three bytes that a destructor frees."""
    wanted: Counts = {}
    for name, (calls, errors, size) in ROUND.items():
        more = of_key if name in ("malloc", "free") else 0
        extra = 3 * of_key if name == "malloc" else 0
        wanted[name] = (calls * rounds + more, errors * rounds, None if size is None else size * rounds + extra)
    return wanted


def expect_threads(box: Box, rounds: int, threads: int) -> None:
    own = counts_by(box, "tid", "tid != pid")
    check("threads", threads, len(own))
    for tid, calls in own.items():
        check(f"calls of thread {tid}", expected(rounds, of_key=1), calls)


def test_threads_children_and_images(box: Box) -> None:
    needs_heap(box)
    rounds, threads, children = 200, 6, 4
    told = box.record(box.kit.victim("heap"), "work", rounds, threads, children, options=HEAP)
    check("output", b"done\n", told)
    check("losses", 0, box.losses())
    expect_threads(box, rounds, threads)
    first = box.value("SELECT pid FROM processes ORDER BY start LIMIT 1")
    forked = counts_by(box, "pid", f"pid != {first}")
    check("children", children, len(forked))
    for pid, calls in forked.items():
        check(f"calls of child {pid}", expected(rounds), calls)
    # The first thread did no round before the exec; its image after it did them all, and each has a constructor.
    mine = counts(box, f"tid = {first}")
    for name in ("aligned_alloc", "memalign", "posix_memalign", "reallocarray", "valloc"):
        check(f"{name} after exec", expected(rounds)[name], mine[name])
    check("pvalloc before main", (rounds + 2, 0, 12 * rounds + 2), mine["pvalloc"])
    check("events of single calls", 0, box.count("layer = 'heap'"))


def test_rows(box: Box) -> None:
    """As the contract has them: intervals in a row, a bucket for every call, least and most inside the sum."""
    needs_heap(box)
    box.record(box.kit.victim("heap"), "work", 3000, 2, 0, options=(*HEAP, "--interval", "2ms"))
    wrong = (
        "SELECT count(*) FROM intervals WHERE layer = 'heap' AND (width != 2000000 OR ts % width != 0 OR ts < 0 "
        "OR list_sum(hist) != calls OR calls < 1 OR errors > calls OR dur_min > dur_max OR dur < dur_max "
        "OR dur_max * calls < dur OR file IS NOT NULL)"
    )
    doubled = "SELECT count(*) - count(DISTINCT (ts, tid, name)) FROM intervals WHERE layer = 'heap'"
    rows = "SELECT count(*) FROM intervals WHERE layer = 'heap'"
    state, events = (f"SELECT {what} FROM layers WHERE layer = 'heap'" for what in ("state", "events"))
    late = f"""{rows} AND ts > (SELECT max("end") FROM processes)"""
    impossible, twice, after, number, state, events = box.values(wrong, doubled, late, rows, state, events)
    check("rows that cannot be", 0, impossible)
    check("rows that should be one", 0, twice)
    check("rows after the end", 0, after)
    check("the layer's state", ("on", number), (state, int(events)))
    expect_threads(box, 3000, 2)
    report = json.loads(box.fathom("report", box.trace, "intervals", "--top", "0", "--format", "json"))
    check_true("the report names posix_memalign", "posix_memalign" in json.dumps(report))


def test_a_hundred_threads(box: Box) -> None:
    needs_heap(box)
    box.record(box.kit.victim("heap"), "work", 20, 100, 0, options=HEAP)
    check("losses", 0, box.losses())
    expect_threads(box, 20, 100)


def test_killed(box: Box) -> None:
    needs_heap(box)
    box.record(box.kit.victim("heap"), "kill", 300, 3, options=HEAP, status=137)
    expect_threads(box, 300, 3)
    check("losses", 0, box.losses())


def test_unsupervised_and_killed(box: Box) -> None:
    """Nobody was there: a later command finds what the threads left."""
    needs_heap(box)
    box.run(box.kit.victim("heap"), "kill", 300, 3, status=-9, env=unsupervised(box))
    expect_threads(box, 300, 3)


def test_a_run_that_an_older_one_began(box: Box) -> None:
    """Its header is of version 1, without an interval, and its clock is another."""
    needs_heap(box)
    write_run_header(box.trace / "spool")
    box.run(box.kit.victim("heap"), "work", 40, 2, 0, env=unsupervised(box))
    expect_threads(box, 40, 2)
    check("widths", [(10**9,)], box.rows("SELECT DISTINCT width FROM intervals"))


def test_the_other_library_says_so(box: Box) -> None:
    needs_heap(box)
    env = {**box.unsupervised(), "FATHOM_LAYERS": "app,heap"}
    box.run(box.kit.victim("heap"), "bare", 0, env=env)
    (row,) = box.rows("SELECT events, reason FROM layers WHERE layer = 'heap'")
    check_true(f"events and reason {row}", row[0] == 0 and "libfathom_heap.so" in row[1])


def test_plugins(box: Box) -> None:
    """Libraries that come and go."""
    needs_heap(box)
    library = box.kit.victim("heap", "-shared", "-fPIC")
    box.record(box.kit.victim("heap"), "plugin", 50, library, options=HEAP)
    check("memalign of the library", (150, 0, 150 * 64), counts(box)["memalign"])
    check("pvalloc of constructors", (4, 0, 4), counts(box)["pvalloc"])


def test_segments_that_are_left(box: Box) -> None:
    """A thread that fills many segments begins its sums anew in each."""
    needs_heap(box)
    box.record(box.kit.victim("heap"), "segments", 300, options=HEAP)
    check("valloc", (300, 0, 3000), counts(box)["valloc"])
    check("regions", 300_000, box.count("name = 'fill'"))


@may_take(1800)  # seconds on a machine with room for it; each instruction is a signal
def test_handlers_at_every_instruction(box: Box) -> None:
    """A handler fills the segment, or forks, wherever a call is being added; nobody packs meanwhile."""
    needs_heap(box)
    if platform.machine() != "x86_64":
        raise Skipped("the trap flag is one of x86_64")
    for act in ("write", *(("fork",) if box.kit.full else ())):
        box.trace = box.root / f"{act}.fathom"
        told = box.told(box.run(box.kit.victim("stepping"), act, "memalign", env=unsupervised(box)))
        check(f"{act}: what was done", True, told["children" if act == "fork" else "fills"] > 50)
        check(f"{act}: regions of a segment", 4000 * told["fills"], box.count("name = 'fill'"))
        parent = "pid = (SELECT pid FROM processes ORDER BY start LIMIT 1)"
        check(f"{act}: calls", told["rounds"], counts(box, parent)["memalign"][0])
        check(f"{act}: losses", 0, box.losses())


def test_what_is_not_seen(box: Box) -> None:
    """A program without a loader says why; one with an allocator of its own runs as ever."""
    needs_heap(box)
    static = box.kit.victim("early", "-static")
    check("output of a static program", b"ran\n", box.record(static, options=HEAP))
    check_true("it is named as not covered", "static" in json.dumps(box.info()["not_covered"]))
    (row,) = box.rows("SELECT events, reason FROM layers WHERE layer = 'heap'")
    check_true(f"events and reason {row}", row[0] == 0 and "static" in row[1])
    box.trace = box.root / "own.fathom"
    own = box.kit.victim("own_malloc")
    check("output with an allocator of its own", box.run(own), box.record(own, options=HEAP))


def test_another_allocator_behind_ours(box: Box) -> None:
    """It is called as before, and its calls are counted; memory that the loader took before is not handed to it."""
    needs_heap(box)
    allocator = box.kit.victim("own_malloc", "-shared", "-fPIC", "-Wl,-z,lazy")
    env = {"LD_PRELOAD": str(allocator)}
    script = "import ctypes; print(len([str(i) for i in range(10000)]))"
    command = (sys.executable, "-S", "-c", script)
    alone = box.run(*command, env=env)
    words = (box.kit.fathom, "run", "-q", *HEAP, "-o", box.trace, "--", *command)
    check("output", alone, box.run(*words, env=env))
    check_true("calls", counts(box)["malloc"][0] > 100)


def test_choice_of_calls(box: Box) -> None:
    needs_heap(box)
    options = (*HEAP, "--calls", "valloc,memalign")
    box.record(box.kit.victim("heap"), "work", 10, 1, 0, options=options)
    check("functions", ["memalign", "valloc"], sorted(counts(box)))


def test_sanitizers(box: Box) -> None:
    """AddressSanitizer's allocator stands behind ours, and complains as without us."""
    needs_heap(box)
    program = box.kit.victim("sanitized", "-fsanitize=address", compiler="gcc")
    for bug in ("none", "heap"):
        box.trace = box.root / f"{bug}.fathom"
        alone = box.start(program, bug)
        out, _ = box.finish(alone, None)
        process = box.start(box.kit.fathom, "run", "-q", *HEAP, "-o", box.trace, "--", program, bug)
        ours, err = box.finish(process, None)
        check(f"output with bug {bug}", out, ours)
        check(f"status with bug {bug}", alone.returncode, process.returncode)
        check(f"complaint about {bug}", bug == "heap", b"heap-buffer-overflow" in err)


def test_one_library_in_a_process(box: Box) -> None:
    """A run inside a run: whichever libraries they preload, a program has one, and its recorder is the inner one."""
    needs_heap(box)
    for outer, inner in ((HEAP, ()), ((), HEAP)):
        box.trace = box.root / f"{'-'.join(outer)}.fathom"
        within = (box.kit.fathom, "run", "-q", *inner, "-o", box.root / f"inner{'-'.join(inner)}.fathom", "--")
        maps = box.record(*within, "cat", "/proc/self/maps", options=outer).decode()
        loaded = {line.split("/")[-1] for line in maps.splitlines() if "libfathom" in line and "r-xp" in line}
        check("libraries", {"libfathom_heap.so" if inner else "libfathom.so"}, loaded)

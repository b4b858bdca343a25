# SPDX-License-Identifier: MIT
"""Nothing is lost, nothing is wrong: counts against what the programs know of themselves."""

import json
import os
import signal
import time

from kit import Box, check, check_true


def test_names_are_never_wrong(box: Box) -> None:
    """A number goes from file to file while another thread reads from it: the name may be unknown, never wrong."""
    box.record(box.kit.victim("swap"), 200_000 if box.kit.full else 20_000)
    pairs = box.rows(
        "SELECT r.args['truth'] AS truth, parse_filename(p.file) AS file, count(*) "
        "FROM (FROM events WHERE name = 'look' AND args['truth'] IS NOT NULL) r "
        "ASOF JOIN (FROM events WHERE name = 'pread') p ON p.tid = r.tid AND r.ts <= p.ts "
        "WHERE p.ts + p.dur <= r.ts + r.dur GROUP BY ALL"
    )
    wrong = [pair for pair in pairs if pair[1] is not None and pair[0] != pair[1]]
    check("wrong names (truth, recorded, times)", [], wrong)
    named = sum(int(pair[2]) for pair in pairs if pair[1] is not None)
    check_true(f"some are named: {pairs}", named > 0)


def test_storm(box: Box) -> None:
    """Processes, threads, regions with arguments and a signal handler, all at once: every single one is there."""
    size = (40, 24, 2000) if box.kit.full else (6, 8, 500)
    lines = box.record(box.kit.victim("storm"), *size).decode().splitlines()
    told = [tuple(map(int, line.split())) for line in lines]
    check("processes", size[0] + 1, len(told))
    turns, handled = sum(one[0] for one in told), sum(one[1] for one in told)
    check("regions", turns, box.count("name = 'turn'"))
    check("reads", turns, box.count("name = 'pread' AND size = 11"))
    check_true("reads of handlers", box.count("name = 'pread' AND size = 7") >= handled)
    check(
        "sum of arguments",
        (size[0] + 1) * size[1] * sum(range(size[2])),
        box.value("SELECT sum(args['i']::BIGINT) FROM events"),
    )
    check("losses", 0, box.losses())


def test_budget_drop(box: Box) -> None:
    """Beyond the budget events are dropped, and each of them is counted."""
    box.record(box.kit.victim("reader"), 400_000, options=("--spool-max", "256K"))
    check("reads kept and lost", True, box.count("name = 'pread'") + box.losses() >= 400_000)


def test_budget_block(box: Box) -> None:
    """Whoever chooses to wait loses nothing."""
    box.record(box.kit.victim("reader"), 200_000, options=("--spool-max", "600K", "--when-full", "block"))
    check("reads", 200_000, box.count("name = 'pread'"))
    check("losses", 0, box.losses())


def test_call_in_flight(box: Box) -> None:
    """A program killed in a call: info tells which."""
    process = box.start(box.kit.victim("blocked"), env=box.unsupervised())
    box.wait_for("program", lambda: (box.dir / "ready").exists())
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    check("read in flight", True, "read" in json.dumps(box.info()["in_flight"]))


def test_recorder_killed_at_any_time(box: Box) -> None:
    """Whenever the recorder dies, what the program did is in the recording, once."""
    for round_number in range(20 if box.kit.full else 3):
        box.trace = box.root / f"trace-{round_number}"
        recorder = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", box.kit.victim("reader"), 300_000)
        time.sleep(0.02 + 0.05 * round_number)
        recorder.kill()
        recorder.wait()
        box.wait_for("end of the program", lambda leader=recorder.pid: not group_lives(leader))
        if not (box.trace / "spool" / "run.header").exists():
            continue  # it was killed before it had begun
        reads = box.count("name = 'pread'")
        check(f"reads in round {round_number}", reads in (0, 300_000), True)
        check("the same again", reads, box.count("name = 'pread'"))


def group_lives(leader: int) -> bool:
    """Whether the recorder or its program is there, also before that is the program by name."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def test_filters(box: Box) -> None:
    """Only the chosen calls, only the chosen paths: prefixes, relative, with a slash at the end."""
    (box.dir / "in").mkdir()
    (box.dir / "inner").mkdir()
    command = f"{box.kit.victim('reader')} 5 in/a; {box.kit.victim('reader')} 7 inner/b"
    box.record("true", options=("--paths", "in/", "--calls", "pread"))
    told = {one["layer"]: one["reason"] for one in box.info()["layers"]}
    check("why it is empty", "nothing that --paths with --calls lets through happened", told["posix"])
    box.trace = box.root / "some.fathom"
    box.record("sh", "-c", command, options=("--paths", "in/", "--calls", "pread,open"))
    check("reads below in/", 5, box.count("name = 'pread'"))
    check(
        "files",
        [(str(box.dir / "in/a"),)],
        box.rows("SELECT DISTINCT file FROM events WHERE file IS NOT NULL"),
    )
    check("other calls", 0, box.count("name NOT IN ('pread', 'open') AND layer = 'posix'"))


def test_collect(box: Box) -> None:
    """Unsupervised programs, packed by `fathom collect`, which ends when they have."""
    processes = [box.start(box.kit.victim("reader"), 1000, env=box.unsupervised()) for _ in range(5)]
    for process in processes:
        box.finish(process)
    box.fathom("collect", "-q", box.trace)
    check("nothing left in the spool", False, (box.trace / "spool").exists())
    check("reads", 5000, box.count("name = 'pread'"))
    check("state", "complete", box.info()["state"])


def test_many_processes(box: Box) -> None:
    """A shell loop of short programs: each is there, and the spool does not grow with them."""
    number = 2000 if box.kit.full else 150
    box.record("sh", "-c", f"for i in $(seq {number}); do {box.kit.victim('reader')} 3 >/dev/null; done")
    check("reads", 3 * number, box.count("name = 'pread'"))
    check(
        "processes",
        number,
        box.value("SELECT count(DISTINCT pid) FROM processes WHERE command LIKE '%reader 3'"),
    )
    check("losses", 0, box.losses())

# SPDX-License-Identifier: MIT
"""Owners in other pid namespaces, logs that were cut, copies in the spool, a header that is gone, little addresses."""

import os
import shutil
import time
from pathlib import Path

from kit import Box, Process, Skipped, check, check_true
from test_safe_recorder import CODE, PREADS, READS, start_paused

MANY = 100_000


def unshared(box: Box, *options: str) -> list[str]:
    """What begins a program in a pid namespace of its own."""
    line = ["unshare", *options, "-pf"]
    probe = box.start(*line, "true")
    box.finish(probe, None)
    if probe.returncode != 0:
        raise Skipped("no right to make a pid namespace here")
    return line


def test_another_pid_namespace(box: Box) -> None:
    """Pids count from 1 on in there: no living owner is taken for a dead one, nor a dead one for a living."""
    reads = f"for i in $(seq 90); do /bin/true; done; {box.kit.victim('reader')} {MANY}"
    for options in ((), ("--mount-proc",)):
        box.record(*unshared(box, *options), "sh", "-c", reads)
        check("reads, losses", (MANY, 0), (box.count(PREADS), box.losses()))
        check("state", "complete", box.value("SELECT value FROM run WHERE key = 'state'").split()[0])
        shutil.rmtree(box.trace)


def test_a_namespace_that_nobody_watched(box: Box) -> None:
    """Its pids 1 and 2 live on the machine as well, and are others there: collecting ends."""
    line = [*unshared(box), "sh", "-c", f"{box.kit.victim('reader')} 1000; kill -9 $$"]
    box.run(*line, env=box.unsupervised(), status=None)
    box.fathom("collect", box.trace)
    check("reads", 1000, box.count(PREADS))
    check("the spool is gone", False, (box.trace / "spool").exists())


def test_a_container_beside(box: Box) -> None:
    """A collector sees nobody of the container beside its own. It takes nothing from a program that lives there, ends
    when it has heard nothing for a while, and says what it does not know."""
    words = ["env", *(f"{key}={value}" for key, value in box.unsupervised().items())]
    inside = unshared(box, "--mount-proc")
    wait = "while [ ! -e collect ]; do sleep 0.05; done"
    first = f"{' '.join(words)} {box.kit.victim('reader')} 10; touch first"
    collector = box.start(*inside, "sh", "-c", f"{first}; {wait}; {box.kit.fathom} collect {box.trace}")
    box.wait_for("a run of that container", (box.dir / "first").exists)
    beside = box.start(*inside, *words, box.kit.victim("pauses"), READS, CODE)
    box.wait_for("a program beside it", (box.dir / "ready").exists)
    (box.dir / "collect").touch()
    _, said = box.finish(collector)
    check_true(f"what it says: {said!r}", b"programs of another container may still record" in said)
    check("the program lives", None, beside.poll())
    (box.dir / "more").touch()
    (box.dir / "go").touch()
    box.finish(beside, CODE)
    box.fathom("collect", box.trace)
    check("reads, losses", (10 + 2 * READS, 0), (box.count(PREADS), box.losses()))


def killed(box: Box) -> Path:
    """The spool of a recorder and a program that were killed, with a log that was drained."""
    process: Process = start_paused(box)
    box.wait_for("a drained log", lambda: any(box.trace.glob("spool/drained-*.log")))
    time.sleep(0.3)
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    process.kill()
    for pid in pids:
        if is_below(pid, box):
            os.kill(pid, 9)
    process.wait()
    return box.trace / "spool"


def is_below(pid: int, box: Box) -> bool:
    """A program of this box."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == box.dir and "pauses" in Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return False


def test_a_log_that_was_cut(box: Box) -> None:
    """What was cut off is a loss with a number, in the middle of an entry and between two."""
    spool = killed(box)
    log = spool / "drained-0.log"
    os.truncate(log, log.stat().st_size // 2)
    box.fathom("collect", box.trace)
    got, lost = box.count(PREADS), box.lost("events of a log that was cut short or damaged")
    check_true(f"{got} reads and {lost} events lost", got < READS and got + lost >= READS)
    check("state", "partial", box.value("SELECT value FROM run WHERE key = 'state'").split()[0])


def test_copies_do_not_count(box: Box) -> None:
    spool = killed(box)
    shutil.copy(spool / "drained-0.log", spool / "drained-7.log")
    first = sorted(spool.glob("*.pool"))[0]
    shutil.copy(first, spool / "77.pool")
    check("reads, before packing", READS, box.count(PREADS))
    box.fathom("collect", box.trace)
    check("reads", READS, box.count(PREADS))
    check("told", 2, box.lost("a copy of a file of the spool, which was left out"))
    check("other losses", 2, box.losses())


def test_a_header_that_is_gone(box: Box) -> None:
    """The manifest knows the clock: what was recorded is there, and that something is missing is said."""
    spool = killed(box)
    (spool / "run.header").unlink()
    info = box.fathom("info", box.trace).decode()
    check_true(f"info names it: {info}", "run.header" in info)
    box.fathom("collect", box.trace)
    check("reads", READS, box.count(PREADS))
    check("told", 1, box.lost("run.header of the spool was gone, and what programs counted there"))


def test_a_header_that_nobody_knows(box: Box) -> None:
    """Without a manifest there is no clock: that is an error, and nothing is removed."""
    box.run(box.kit.victim("reader"), 100, env=box.unsupervised())
    (box.trace / "spool" / "run.header").unlink()
    pools = list(box.trace.glob("spool/*.pool"))
    process = box.start(box.kit.fathom, "collect", box.trace)
    _, err = box.finish(process, None)
    check_true(f"status {process.returncode}, {err!r}", process.returncode != 0 and b"run.header" in err)
    check("pools", pools, list(box.trace.glob("spool/*.pool")))


def test_little_address_space(box: Box) -> None:
    """A program that works within few addresses works under us, and the true reason is told."""
    box.not_emulated("a recorder starts it")
    for kibibytes in (3500, 4000, 5000, 6000, 8000, 12000, 40000, 80000):
        line = ["sh", "-c", f"ulimit -v {kibibytes}; exec /bin/ls /"]
        bare = box.start(*line)
        box.finish(bare, None)
        process = box.start(box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--", *line)
        box.finish(process, bare.returncode)
        told = [row["reason"] for row in box.info()["not_covered"]]
        few = kibibytes < 64 << 10
        check(f"{kibibytes} KiB", few, any("too little address space" in reason for reason in told))


def test_little_address_space_past_the_hooks(box: Box) -> None:
    """An exec that no library sees, with LD_PRELOAD in the environment: the program says that it is left alone."""
    line = [box.kit.victim("ways_past"), 40 << 20, "/bin/ls", "/"]
    bare = box.run(*line)
    check("what it does", bare, box.record(*line))
    told = {row["program"].rsplit("/", 1)[-1]: row["reason"] for row in box.info()["not_covered"]}
    check("why", "too little address space (ulimit -v) to load a library", told.get("ls"))

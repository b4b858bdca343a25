# SPDX-License-Identifier: MIT
"""The recorder outlives what happens to its files, tells every gap, and the program's status comes back."""

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from kit import Box, Process, Skipped, check, check_true
from test_attach_cpu import Server

READS, CODE = 30_000, 7
PREADS = "name = 'pread'"


def start_paused(box: Box, *options: str) -> Process:
    """A program that has read, and waits unseen."""
    box.not_emulated("a recorder starts it")
    command = [box.kit.fathom, "run", "-q", *options, "-o", box.trace, "--", box.kit.victim("pauses"), READS, CODE]
    process = box.start(*command)
    box.wait_for("a program that is ready", (box.dir / "ready").exists)
    return process


def go_on(box: Box, process: Process, more: bool = False) -> None:
    if more:
        (box.dir / "more").touch()
    (box.dir / "go").touch()
    box.finish(process, CODE)


def pools(box: Box) -> list[Path]:
    return sorted(box.trace.glob("spool/*.pool"))


def wait_for_recorder(box: Box, process: Process) -> None:
    """What the recorder of a busy machine has not opened yet would go with its file."""
    opened = Path(f"/proc/{process.pid}/maps")
    box.wait_for("recorder that has the pools", lambda: all(str(path) in opened.read_text() for path in pools(box)))


def wait_for_mended(box: Box, sizes: dict[Path, int]) -> None:
    box.wait_for("pools as long as before", lambda: all(path.stat().st_size >= size for path, size in sizes.items()))


def check_told(box: Box, reads: int) -> None:
    """All reads are there, or the recording says that some are not."""
    got, lost = box.count(PREADS), box.losses()
    check_true(f"{got} of {reads} reads, {lost} losses", got == reads or (got < reads and lost > 0))


def check_partial(box: Box) -> None:
    check("state", "partial", box.value("SELECT value FROM run WHERE key = 'state'").split()[0])


def again(box: Box) -> None:
    for name in ("ready", "go", "more"):
        (box.dir / name).unlink(missing_ok=True)
    shutil.rmtree(box.trace, ignore_errors=True)


def replaced_by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replaced_by_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def test_pools_that_change(box: Box) -> None:
    """Cut, removed, replaced, grown: the recorder goes on, and what it had open is not lost."""
    ways: list[tuple[Callable[[Path], None], bool]] = [
        (lambda path: os.truncate(path, 0), False),
        (lambda path: os.truncate(path, 100_000), False),
        (Path.unlink, True),
        (replaced_by_fifo, True),
        (replaced_by_link, True),
        (lambda path: os.truncate(path, 1 << 40), True),
    ]
    for change, harmless in ways:
        process = start_paused(box)
        wait_for_recorder(box, process)
        sizes = {path: path.stat().st_size for path in pools(box)}
        for path in sizes:
            change(path)
        time.sleep(0.1)  # the recorder meets what changed
        if not harmless:  # the program writes there again
            wait_for_mended(box, sizes)
        go_on(box, process, more=True)
        check_told(box, 2 * READS)
        if harmless:
            check("reads, losses", (2 * READS, 0), (box.count(PREADS), box.losses()))
        else:
            check_partial(box)
        again(box)


def test_files_of_the_spool_that_go(box: Box) -> None:
    """Every other file, and the whole spool, may go while the program runs: the recorder makes them again."""
    for pattern in ("run.header", "schema-*", "lock", "definitions.log", "drained-*.log", "*"):
        process = start_paused(box)
        box.wait_for("a drained log", lambda: any(box.trace.glob("spool/drained-*.log")))
        if pattern == "*":
            shutil.rmtree(box.trace / "spool")
        for path in box.trace.glob(f"spool/{pattern}"):
            path.unlink()
        time.sleep(0.1)
        box.wait_for(f"run.header again, without {pattern}", (box.trace / "spool/run.header").exists)
        go_on(box, process, more=True)
        check(f"reads, losses without {pattern}", (2 * READS, 0), (box.count(PREADS), box.losses()))
        again(box)


def test_a_recording_that_goes(box: Box) -> None:
    """Somebody removes the whole recording: the program ends as ever, and nothing comes back."""
    process = start_paused(box)
    box.trace.rename(box.root / "gone")  # at one stroke: half of it would be made again meanwhile
    shutil.rmtree(box.root / "gone")
    go_on(box, process, more=True)
    check("the recording is back", False, (box.trace / "manifest.json").exists())


def test_gaps_are_losses(box: Box) -> None:
    """Nobody had them open: a log that is removed is a loss of its events, a pool of its segments."""
    process = start_paused(box)
    box.wait_for("a drained log", lambda: any(box.trace.glob("spool/drained-*.log")))
    time.sleep(0.3)
    process.kill()
    process.wait()
    (box.dir / "go").touch()
    time.sleep(0.2)
    whole = box.root / "whole"
    shutil.copytree(box.trace, whole)
    box.trace, spare = whole, box.trace
    check_told(box, READS)
    box.trace = box.root / "without-log"
    shutil.copytree(spare, box.trace)
    for path in box.trace.glob("spool/drained-*.log"):
        path.unlink()
    got, lost = box.count(PREADS), box.lost("of a log that was removed")
    check_true(f"{got} reads and {lost} lost events", 0 < got < READS <= got + lost)
    check_partial(box)
    box.trace = box.root / "without-pools"
    shutil.copytree(spare, box.trace)
    for path in pools(box):
        path.unlink()
    check_true("segments are missing", box.lost("segments that vanished") > 0)
    check_partial(box)


def test_force_spares_the_living(box: Box) -> None:
    """--force never touches what somebody writes: a recorder, or programs without one."""
    process = start_paused(box)
    refused = [box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--", "true"]
    _, err = box.finish(box.start(*refused), 3)
    check("lines", 1, err.count(b"\n"))
    (box.root / "foreign").write_text("main;work 10\n")
    box.fathom("import", box.root / "foreign", "--format", "collapsed", "--force", "-o", box.trace, status=3)
    process.kill()
    process.wait()
    box.finish(box.start(*refused), 3)
    (box.dir / "go").touch()
    box.wait_for("an end", lambda: not is_written(box))
    check("reads, losses", (READS, 0), (box.count(PREADS), box.losses()))
    box.finish(box.start(*refused), 0)


def is_written(box: Box) -> bool:
    return any(str(path).encode() in maps(pid) for path in pools(box) for pid in processes())


def processes() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def maps(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/maps").read_bytes()
    except OSError:
        return b""


def test_two_at_once(box: Box) -> None:
    """A launcher starts the same line many times: one records, the others say no."""
    box.not_emulated("a recorder starts it")
    for turn in range(3):
        trace = box.root / f"turn-{turn}"
        line = [box.kit.fathom, "run", "-q", "--force", "-o", trace, "--", box.kit.victim("reader"), 2000]
        started = [box.start(*line) for _ in range(3)]
        ends = []
        for process in started:
            box.finish(process, None)
            ends.append(process.returncode)
        check_true(f"statuses {ends}", set(ends) <= {0, 3} and 0 in ends)
        box.trace = trace
        check("losses", 0, box.losses())


def test_names_with_places(box: Box) -> None:
    box.not_emulated("a recorder starts it")
    for rank in ("0", "1"):
        env = {"OMPI_COMM_WORLD_RANK": rank}
        box.run(box.kit.fathom, "run", "-q", "-o", box.root / "job-%r-%h-%%", "--", "true", env=env)
    host = socket.gethostname()
    for rank in ("0", "1"):
        check_true("a recording for each rank", (box.root / f"job-{rank}-{host}-%/manifest.json").exists())
    box.run(box.kit.fathom, "run", "-o", box.root / "job-%x", "--", "true", status=2)


def test_exit_codes(box: Box) -> None:
    """A program that a signal ended: 128 + N, or the same end for the recorder."""
    box.not_emulated("a recorder starts it")
    line = ["sh", "-c", "kill -TERM $$"]
    box.record(*line, status=128 + signal.SIGTERM)
    check("exit", 143, box.value("SELECT exit FROM processes WHERE name LIKE '%sh'"))
    box.record(*line, options=("--force", "--exit-code", "signal"), status=-signal.SIGTERM)
    box.record("sh", "-c", "exit 5", options=("--force", "--exit-code", "signal"), status=5)


def elsewhere(trace: Path) -> None:
    """The recording as if another machine had made it, a while ago."""
    header = trace / "spool" / "run.header"
    page = bytearray(header.read_bytes())
    boot, host = 88, 128
    page[boot : boot + 4] = b"else"
    page[host : host + 4] = b"else"
    header.write_bytes(page)
    age(trace)


def age(trace: Path) -> None:
    """Nothing was heard of it for an hour."""
    for path in trace.glob("spool/*"):
        os.utime(path, (time.time() - 3600,) * 2)


def test_another_host(box: Box) -> None:
    """Processes of another machine cannot be seen: nobody waits for them, and nobody takes what they may still fill."""
    process = box.start(box.kit.victim("pauses"), READS, CODE, env=box.unsupervised())
    box.wait_for("a program that is ready", (box.dir / "ready").exists)
    sent = box.root / "sent"
    shutil.copytree(box.trace, sent)
    go_on(box, process)
    elsewhere(sent)
    box.trace = sent
    _, err = box.finish(box.start(box.kit.fathom, "collect", sent), 0)
    check_true(f"it is said: {err!r}", b"may still record" in err)
    check("reads", READS, box.count(PREADS))
    age(sent)  # what we took out of its pools was no sign of life
    check_partial(box)
    box.fathom("collect", "--ended", sent)
    check("reads, losses", (READS, 0), (box.count(PREADS), box.losses()))
    check("the spool is gone", False, (sent / "spool").exists())


def test_a_heartbeat_counts(box: Box) -> None:
    """A recorder of another machine that lives is not disturbed, though no lock tells of it."""
    process = start_paused(box)
    time.sleep(1.2)  # it says every second that it lives
    sent = box.root / "sent"
    shutil.copytree(box.trace, sent)
    elsewhere(sent)
    box.fathom("collect", sent, status=3)
    box.trace, own = sent, box.trace
    check("state", "running", box.value("SELECT value FROM run WHERE key = 'state'").split()[0])
    box.trace = own
    go_on(box, process)


class SmallDisk:
    """A disk of two mebibytes, in a mount namespace of its own."""

    def __init__(self, box: Box) -> None:
        box.not_emulated("a recorder starts it")
        if not shutil.which("nsenter"):
            raise Skipped("nsenter is not installed")
        self.box, self.place = box, box.root / "disk"
        self.place.mkdir()
        script = 'mount -t tmpfs -o size=2m none "$0" && echo there && exec sleep 300'
        holder = box.start("unshare", "-m", "sh", "-c", script, self.place)
        assert holder.stdout
        if holder.stdout.readline() != b"there\n":
            raise Skipped("no right to mount here")
        self.inside = ["nsenter", "-m", "-t", str(holder.pid), "env", "-C", str(box.dir)]
        self.seen = Path(f"/proc/{holder.pid}/root{self.place}")  # from here

    def start(self, *words: object) -> Process:
        return self.box.start(*self.inside, *words)

    def fathom(self, *words: object) -> bytes:
        return self.box.run(*self.inside, self.box.kit.fathom, *words)

    def record(self, name: str, *command: object) -> Process:
        return self.start(self.box.kit.fathom, "run", "-o", self.place / name, "--", *command)

    def fill(self) -> None:
        with contextlib.suppress(OSError), (self.seen / "ballast").open("wb", buffering=0) as ballast:
            while ballast.write(bytes(512)) == 512:
                pass

    def is_told(self, name: str) -> bool:
        return b"disk is full" in (self.seen / name / "spool" / "run.header").read_bytes()

    def check_reason(self, name: str) -> None:
        info = json.loads(self.fathom("info", self.place / name, "--format", "json"))
        check(f"state of {name} ({info['state_reason']})", "partial", info["state"])
        check_true(f"why {name} is partial: {info['state_reason']!r}", "disk is full" in info["state_reason"])


def test_a_full_disk_is_named(box: Box) -> None:
    disk = SmallDisk(box)
    _, err = box.finish(disk.record("trace", box.kit.victim("reader"), 300_000), 0)
    check_true(f"a full disk is named: {err!r}", b"disk is full" in err)
    disk.check_reason("trace")


def test_a_full_disk_takes_no_last_word(box: Box) -> None:
    """Not a byte is left for a manifest that says how the run ended: run.header says it, which is there already."""
    disk = SmallDisk(box)
    recorder = disk.record("trace", box.kit.victim("pauses"), READS, CODE)
    box.wait_for("a program that is ready", (box.dir / "ready").exists)
    disk.fill()
    (box.dir / "more").touch()
    (box.dir / "go").touch()
    _, err = box.finish(recorder, CODE)
    check_true(f"a full disk is named: {err!r}", b"disk is full" in err)
    disk.check_reason("trace")


def test_a_recorder_that_is_killed_on_a_full_disk(box: Box) -> None:
    """What it could not write any more is the reason, before the files are packed and after."""
    disk = SmallDisk(box)
    recorder = disk.record("trace", "sh", "-c", f"echo $$ > program; exec {box.kit.victim('reader')} 100000000")
    box.wait_for("a full disk", lambda: (disk.seen / "trace/spool/run.header").exists() and disk.is_told("trace"))
    recorder.kill()
    os.kill(int((box.dir / "program").read_text()), signal.SIGKILL)
    recorder.wait()
    disk.check_reason("trace")
    box.finish(disk.start("mount", "-o", "remount,size=64m", disk.place))
    disk.fathom("collect", "-q", disk.place / "trace")
    disk.check_reason("trace")


def test_a_full_disk_ends_an_attach(box: Box) -> None:
    """Rows come from outside alone: that the disk was full is the reason, not that somebody was killed."""
    disk = SmallDisk(box)
    server = Server(box)
    words = ("attach", server.pid, "--layers", "cpu", "--sample", "999", "-o", disk.place / "trace")
    recorder = disk.start(box.kit.fathom, *words)
    box.wait_for("a recording", (disk.seen / "trace/manifest.json").exists)
    disk.fill()
    box.wait_for("a full disk", lambda: disk.is_told("trace"))
    recorder.send_signal(signal.SIGINT)
    _, err = box.finish(recorder, None)
    check_true(f"a full disk is named: {err!r}", b"disk is full" in err and recorder.returncode != 0)
    disk.check_reason("trace")
    (disk.seen / "ballast").unlink()
    disk.fathom("collect", "-q", disk.place / "trace")
    disk.check_reason("trace")
    server.end()


def test_little_memory(box: Box) -> None:
    """Memory that the recorder cannot have is not the program's trouble."""
    box.not_emulated("a recorder starts it")
    (box.dir / "go").touch()
    for megabytes in (60, 120, 200, 400):
        line = [box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--", box.kit.victim("pauses"), 10, CODE]
        process = box.start("sh", "-c", f'ulimit -v {megabytes}000 && exec "$@"', "sh", *line)
        box.finish(process, None)
        ran = (box.dir / "ready").exists()
        check(f"status at {megabytes} MB", CODE if ran else 3, process.returncode)
        again(box)
        (box.dir / "go").touch()


def test_memory_does_not_grow_with_names(box: Box) -> None:
    """Twenty times the names, and about the same memory; every event has its name, and sums are whole."""
    box.not_emulated("a recorder starts it")
    calls = 1_000_000 if box.kit.full else 200_000
    peaks = []
    for names in (calls // 20, calls):
        shutil.rmtree(box.trace, ignore_errors=True)
        box.record(box.kit.victim("many_names"), names, calls)
        peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
    check_true(f"peaks {peaks}", peaks[1] < max(150 << 20, peaks[0] + (48 << 20)))
    check(
        "names of events",
        calls,
        box.value("SELECT count(DISTINCT file) FROM events WHERE name = 'open' AND error = 'ENOENT'"),
    )
    check("calls of the sums", calls, box.value("SELECT sum(calls) FROM summary WHERE name = 'open' AND errors > 0"))
    check_true("the rest has a row", box.value("SELECT sum(calls) FROM summary WHERE file = 'other files'") > 0)
    check_true("info says so", b"other files" in box.fathom("info", box.trace))

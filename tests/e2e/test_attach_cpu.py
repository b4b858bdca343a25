# SPDX-License-Identifier: MIT
"""Layer cpu on processes that run already: from outside, by the daemon, and of those that a program leaves behind."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kit import Box, Process, Skipped, check, check_true
from test_commands import NOBODY, for_everybody

MS = 1_000_000
ALONE = "threads compute all the time"


class Server:
    """The victim `attached`, which computes and sleeps until its orders end."""

    def __init__(self, box: Box, *before: object, folder: Path | None = None) -> None:
        orders = (folder or box.root) / f"orders{len(box.started)}"
        os.mkfifo(orders)
        orders.chmod(0o666)
        program = box.kit.victim("attached", "-fno-omit-frame-pointer")
        if folder:
            own = folder / program.name
            program = own if own.exists() else Path(shutil.copy(program, own))
        self.box = box
        self.process: Process = box.start(*before, program, orders)
        self.pid, self.busy, self.idle = self.numbers()
        self.orders = os.open(orders, os.O_WRONLY)
        self.tell("wait")  # it reads them

    def numbers(self) -> list[int]:
        assert self.process.stdout
        return [int(word) for word in self.process.stdout.readline().split()]

    def tell(self, order: str) -> list[int]:
        os.write(self.orders, f"{order}\n".encode())
        return self.numbers()

    def end(self, *, waits: bool = True) -> None:
        os.close(self.orders)
        if waits:
            _, said = self.box.finish(self.process)
            check("stderr of the program", b"", said)

    def left_in_it(self) -> tuple[list[str], list[str], list[str]]:
        """Descriptors, mapped files, and what its status says of signals and tracers."""
        place = Path(f"/proc/{self.pid}")
        maps, status = ((place / name).read_text().splitlines() for name in ("maps", "status"))
        files = sorted({line.split(maxsplit=5)[-1] for line in maps if "/" in line})
        facts = [line for line in status if re.match("Sig(Pnd|Blk|Ign|Cgt)|Tracer|Seccomp|Threads", line)]
        return sorted(link.name for link in (place / "fd").iterdir()), files, facts


def attach(box: Box, *words: object) -> Process:
    return box.start(box.kit.fathom, "attach", "-o", box.trace, *words)


def sampled(box: Box, tids: set[int]) -> Callable[[], bool]:
    """Whether each of the threads has samples by now."""

    def ready() -> bool:
        if not (box.trace / "manifest.json").exists():
            return False
        done = subprocess.run(
            [
                box.kit.fathom,
                "sql",
                box.trace,
                "SELECT DISTINCT tid FROM samples WHERE event = 'cpu-clock'",
                "--format",
                "json",
            ],
            capture_output=True,
            check=False,
        )
        return done.returncode == 0 and tids <= {row["tid"] for row in json.loads(done.stdout)}

    return ready


def check_functions(box: Box, wanted: dict[int, str]) -> None:
    """Nearly all samples of a thread lie in its function, under its name."""
    sql = """SELECT tid, sum(weight), sum(weight) FILTER (stack IN (SELECT stack FROM frames WHERE "function" = '{}'))
        FROM samples WHERE event = 'cpu-clock' AND tid = {} GROUP BY tid"""
    for tid, function in wanted.items():
        rows = box.rows(sql.format(function, tid))
        check_true(f"{function} of {tid}: {rows}", len(rows) == 1 and int(rows[0][2] or 0) >= 0.9 * int(rows[0][1]))


def test_until_its_end(box: Box) -> None:
    """Threads of before, later ones and later children, by function and name; the sleeper has slept."""
    box.needs_layer("cpu")
    server = Server(box)
    attached = attach(box, server.pid, "--layers", "cpu")
    box.wait_for("samples", sampled(box, {server.busy}))
    (late,), (child,) = server.tell("thread"), server.tell("fork")
    box.wait_for("later samples", sampled(box, {late, child}))
    server.end()
    _, said = box.finish(attached)
    check_true(f"a summary: {said!r}", b"wall time" in said and str(box.trace).encode() in said)
    check("state", "complete", box.info()["state"])
    check_functions(box, {server.busy: "churn", late: "late", child: "child"})
    names = dict(box.rows(f"SELECT tid, name FROM threads WHERE pid = {server.pid}"))
    check("names", ("churn", "idle", "late"), (names[server.busy], names[server.idle], names[late]))
    life, off = box.values(
        f'SELECT "end" - start FROM threads WHERE tid = {server.idle}',
        f"SELECT sum(weight) FROM samples WHERE event = 'off-cpu' AND tid = {server.idle}",
    )
    check_true(f"the sleeper slept: {off} of {life}", abs(int(life) - int(off)) <= MS)
    if os.geteuid() == 0:
        waits = box.rows("""SELECT DISTINCT cause FROM "time" WHERE state = 'waiting'""")
        check_true(f"it is known for what: {waits}", ("poll",) in waits)


def test_life_adds_up(box: Box) -> None:
    box.needs_layer("cpu")
    server = Server(box)
    box.finish(attach(box, server.pid, "--layers", "cpu", "--for", "1s", "-q"))
    server.end()
    life, told = box.values('SELECT sum("end" - start) FROM threads', 'SELECT sum("time") FROM "time"')
    check_true(f"{told} of {life} ns", abs(int(life) - int(told)) <= MS)
    check("threads", 3, box.value("SELECT count(*) FROM threads"))
    check("losses", 0, box.all_losses())


def test_nothing_is_left_in_it(box: Box) -> None:
    """SIGINT, a time, and a kill of the recorder: the process is as it was."""
    box.needs_layer("cpu")
    server = Server(box)
    before = server.left_in_it()
    attached = attach(box, server.pid)
    box.wait_for("samples", sampled(box, {server.busy}))
    check("while it is recorded", before, server.left_in_it())
    attached.send_signal(signal.SIGINT)
    _, said = box.finish(attached)
    check_true(f"a summary: {said!r}", b"wall time" in said)
    check(
        "layers",
        [("cpu",), ("resource",)],
        box.rows("SELECT layer FROM layers WHERE state IN ('on', 'partial') ORDER BY layer"),
    )
    check_true("counters", box.value(f"SELECT count(*) FROM counters WHERE pid = {server.pid}") > 0)
    check("after SIGINT", before, server.left_in_it())
    box.finish(attach(box, server.pid, "--force", "--for", "200ms", "-q"))
    check("after a time", before, server.left_in_it())
    box.trace = box.root / "killed.fathom"
    attached = attach(box, server.pid)
    box.wait_for("samples", sampled(box, {server.busy}))
    attached.kill()
    box.finish(attached, -9)
    check("after SIGKILL", before, server.left_in_it())
    check_true("what was recorded can be read", box.value("SELECT count(*) FROM samples") > 0)
    server.end()


def test_several_at_once(box: Box) -> None:
    """It ends when both have."""
    box.needs_layer("cpu")
    first, second = Server(box), Server(box)
    attached = attach(box, first.pid, second.pid, "-q")
    box.wait_for("samples", sampled(box, {first.busy, second.busy}))
    first.end()
    time.sleep(0.3)
    check("still there", None, attached.poll())
    second.end()
    box.finish(attached)
    check_functions(box, {first.busy: "churn", second.busy: "churn"})


def test_it_becomes_another_program(box: Box) -> None:
    box.needs_layer("cpu")
    server = Server(box)
    attached = attach(box, server.pid, "--layers", "cpu", "-q")
    box.wait_for("samples", sampled(box, {server.busy}))
    _, busy, _ = server.tell("exec")
    box.wait_for("samples of the new one", sampled(box, {busy}))
    server.end()
    box.finish(attached)
    check("images", 2, len(box.rows(f"SELECT start FROM processes WHERE pid = {server.pid}")))
    check_functions(box, {server.busy: "churn", busy: "churn"})


def test_refused(box: Box) -> None:
    """One line, exit 3, and no recording: nobody there, a zombie, a thread, another's process."""
    box.needs_layer("cpu")
    server = Server(box)
    zombie = subprocess.Popen(
        [sys.executable, "-c", "import os, sys\nif os.fork(): sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    children = Path(f"/proc/{zombie.pid}/task/{zombie.pid}/children")
    box.wait_for("a child", lambda: bool(children.read_text().split()))
    dead = children.read_text().split()[0]
    box.wait_for("its end", lambda: "Z" in Path(f"/proc/{dead}/status").read_text().split("State:")[1][:3])
    for pid in (4194300, dead, server.busy):
        _, said = box.finish(attach(box, pid), 3)
        check_true(f"one line: {said!r}", said.count(b"\n") == 1 and said.startswith(b"fathom: "))
        check("a recording", False, box.trace.exists())
    zombie.communicate(b"")
    box.finish(attach(box, server.pid, "--for", "200ms", "-q"))
    _, said = box.finish(attach(box, server.pid), 3)
    check_true(f"it exists: {said!r}", said.count(b"\n") == 1)
    for words in (
        ("--for", "1s", server.pid),
        ("-o", box.root / "x", "--for", "soon", server.pid),
        ("-o", box.root / "x", "x"),
    ):
        box.fathom("attach", *words, status=2)
    server.end()


def test_events_are_counted(box: Box) -> None:
    """--count: a series for each process that was there, and for its later child, which only grow."""
    box.needs_layer("cpu")
    server = Server(box)
    attached = attach(box, server.pid, "--layers", "cpu", "--count", "task-clock,page-faults", "-q")
    box.wait_for("samples", sampled(box, {server.busy}))
    (child,) = server.tell("fork")
    box.wait_for("samples of the child", sampled(box, {child}))
    time.sleep(0.5)
    server.end()
    box.finish(attached)
    rows = box.rows("SELECT name, pid, ts, value FROM counters WHERE layer = 'cpu' ORDER BY name, pid, ts, value")
    counted = {
        pid: [value for name, of, _, value in rows if name == "task-clock" and of == pid] for pid in (server.pid, child)
    }
    ran = dict(box.rows("SELECT pid, sum(weight) FROM samples WHERE event = 'cpu-clock' GROUP BY pid"))
    for pid, values in counted.items():
        check_true(f"{pid}: a row where it grew: {values}", len(values) > 1 and values == sorted(set(values)))
    # What it ran before its counters were open is missing: some milliseconds, or up to an interval of a child.
    check_true(
        f"{counted[server.pid][-1]} of {ran}", 0.7 * ran[server.pid] <= counted[server.pid][-1] <= 1.1 * ran[server.pid]
    )
    box.fathom("attach", os.getpid(), "-o", box.root / "x", "--count", "page-fautls", status=2)
    box.fathom("attach", os.getpid(), "-o", box.root / "x", "--count", "faults", "--layers", "resource", status=2)
    box.fathom("attach", os.getpid(), "--count", "faults", status=2)
    check("a recording", False, (box.root / "x").exists())


def test_as_a_user(box: Box) -> None:
    """Own processes, without any privilege; not those of others."""
    box.needs_layer("cpu")
    if os.geteuid() != 0:
        raise Skipped("only root can become another user")
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2:
        raise Skipped("users may not sample here")
    fathom = for_everybody(box) / "fathom"
    place = Path(tempfile.mkdtemp(prefix="fathom-attach-"))
    box.remove.append(place)
    os.chown(place, 65534, 65534)
    nobody = tuple(NOBODY.split())
    server = Server(box, *nobody, folder=place)
    others = Server(box)
    words = (*nobody, fathom, "attach", "--layers", "cpu")
    _, said = box.finish(box.start(*words, others.pid, "-o", place / "no"), 3)
    check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"another user" in said)
    check("a recording", False, (place / "no").exists())
    box.trace = place / "trace.fathom"
    box.finish(box.start(*words, server.pid, "-o", box.trace, "--for", "2s", "-q"))
    check("rung", "perf-user", box.value(f"SELECT rung FROM processes WHERE pid = {server.pid}"))
    check_functions(box, {server.busy: "churn"})
    server.end()
    others.end()


def test_many_threads(box: Box) -> None:
    """All of them, though more descriptors are needed than a process has by default."""
    box.needs_layer("cpu")
    number = 1000 if box.kit.full else 300
    server = Server(box)
    server.tell(f"sleepers {number}")
    box.finish(attach(box, server.pid, "--layers", "cpu", "--for", "1s", "-q"))
    server.end()
    check("threads", number + 3, box.value("SELECT count(*) FROM threads"))
    check("losses", 0, box.all_losses())


def test_outliving_process(box: Box) -> None:
    """What the program leaves behind is sampled to its end, though `run` has returned."""
    box.needs_layer("cpu")
    script = "(sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; touch done) > /dev/null 2>&1 &"
    box.record("sh", "-c", script, options=("--layers", "cpu"))
    box.wait_for("its end", lambda: (box.dir / "done").exists())
    box.wait_for("a complete recording", lambda: box.info()["state"] == "complete")
    end = box.value('SELECT "end" FROM processes WHERE "exit" = 0')
    sampled_after = box.value(f"SELECT coalesce(sum(weight), 0) FROM samples WHERE event = 'cpu-clock' AND ts > {end}")
    check_true(f"CPU time after the program: {sampled_after}", int(sampled_after) > 10 * MS)
    check("lives without an end", 0, box.value('SELECT count(*) FROM threads WHERE "end" IS NULL'))
    check("records without room", 0, box.lost("records for which the ring had no room"))


@contextlib.contextmanager
def watching(box: Box, *options: object) -> Iterator[dict[str, str]]:
    """`fathom watch --layers cpu`; gives the variables by which commands find it."""
    box.needs_layer("cpu")
    env = {"FATHOM_SOCKET": str(box.root / "w.sock")}
    words = ("watch", "--layers", "cpu", "--socket", env["FATHOM_SOCKET"], "-o", box.trace, *options)
    daemon = box.start(box.kit.fathom, *words, env=env)
    assert daemon.stdout
    said = daemon.stdout.readline()
    if b"CAP_PERFMON" in (error := b"" if said else box.finish(daemon, None)[1]):
        raise Skipped(error.decode())
    check("first line", b"ready\n", said or error)
    yield env
    daemon.send_signal(signal.SIGTERM)
    check("stderr of the daemon", b"", box.finish(daemon)[1])


def processes_sampled(box: Box) -> set[int]:
    return {pid for (pid,) in box.rows("SELECT DISTINCT pid FROM samples")}


def test_handed_to_the_daemon(box: Box) -> None:
    """Only those that are; one that is taken back is not sampled any more, but the child that it had is."""
    stranger, server = Server(box), Server(box)
    with watching(box, "--sample", "499") as env:
        box.run(box.kit.fathom, "attach", server.pid, env=env)
        box.run(box.kit.fathom, "attach", server.pid, env=env)
        box.wait_for("samples", sampled(box, {server.busy}))
        (child,) = server.tell("fork")
        box.wait_for("samples of the child", sampled(box, {child}))
        box.run(box.kit.fathom, "attach", "--detach", server.pid, env=env)
        (later,) = server.tell("fork")
        time.sleep(1)
    check("processes", {server.pid, child}, processes_sampled(box))
    check_functions(box, {server.busy: "churn", child: "child"})
    ends = dict(box.rows('SELECT tid, "end" FROM threads'))
    check_true(f"it ended earlier than its child: {ends}", ends[server.busy] + 500 * MS < ends[child])
    check("the other child", False, later in ends)
    for one in (stranger, server):
        one.end()


def needs_root() -> None:
    if os.geteuid() != 0:
        raise Skipped("only root sees the whole machine")


def test_chosen_by_user(box: Box) -> None:
    """Processes of a user: those that run, and those that become that user's by an exec."""
    needs_root()
    place = Path(tempfile.mkdtemp(prefix="fathom-attach-"))
    box.remove.append(place)
    place.chmod(0o755)
    nobody = ("setpriv", "--reuid=64321", "--regid=64321", "--clear-groups")
    stranger, before = Server(box), Server(box, *nobody, folder=place)
    with watching(box, "--user", "64321"):
        box.wait_for("samples", sampled(box, {before.busy}))
        later = Server(box, *nobody, folder=place)
        box.wait_for("later samples", sampled(box, {later.busy}))
    check("processes", {before.pid, later.pid}, processes_sampled(box))
    check_functions(box, {before.busy: "churn", later.busy: "churn"})
    for one in (stranger, before, later):
        one.end()


def test_the_whole_machine(box: Box) -> None:
    """Everybody but the daemon; all lives add up."""
    needs_root()
    server = Server(box)
    with watching(box, "--all"):
        box.wait_for("samples", sampled(box, {server.busy, os.getpid()}), 60)
    server.end()
    names = {name for (name,) in box.rows("SELECT command FROM processes WHERE command LIKE '%watch --layers cpu%'")}
    check_true(f"the daemon itself is not there: {names}", not any("--all" in name for name in names))
    life, told = box.values('SELECT sum("end" - start) FROM threads', 'SELECT sum("time") FROM "time"')
    check_true(f"{told} of {life} ns", abs(int(life) - int(told)) <= MS)


def test_chosen_by_control_group(box: Box) -> None:
    needs_root()
    above = next(
        (path for path in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") if Path(path, "cgroup.procs").exists()), None
    )
    if above is None:
        raise Skipped("no control groups here")
    group = Path(above, f"fathom-attach-{os.getpid()}")
    group.mkdir()
    stranger, server, moved = Server(box), Server(box), Server(box)
    try:
        (group / "cgroup.procs").write_text(str(server.pid))
        with watching(box, "--cgroup", group):
            box.wait_for("samples", sampled(box, {server.busy}))
            (group / "cgroup.procs").write_text(str(moved.pid))
            box.wait_for("samples of one that came later", sampled(box, {moved.busy}))
        check("processes", {server.pid, moved.pid}, processes_sampled(box))
    finally:
        for one in (stranger, server, moved):
            one.end()
        group.rmdir()


def test_recordings_that_roll(box: Box) -> None:
    """Each has the lives that it saw, and together they have all of it; waits keep their cause."""
    server = Server(box)
    with watching(box, "--roll-time", "1s") as env:
        box.run(box.kit.fathom, "attach", server.pid, env=env)
        box.wait_for("three recordings", lambda: len(list(box.trace.iterdir())) >= 3)
    server.end()
    for recording in sorted(box.trace.iterdir()):
        part = json.loads(box.fathom("sql", recording, PARTS, "--format", "json"))[0]
        check_true(f"{recording.name}: {part}", abs(part["life"] - part["told"]) <= MS and part["threads"] == 3)
        if os.geteuid() == 0:
            check_true(f"{recording.name}: {part}", part["polls"] > 0)


PARTS = """SELECT (SELECT sum("end" - start) FROM threads) AS life, (SELECT sum("time") FROM "time") AS told,
    (SELECT count(DISTINCT tid) FROM threads) AS threads,
    (SELECT coalesce(sum("time"), 0) FROM "time" WHERE cause = 'poll') AS polls"""

# SPDX-License-Identifier: MIT
"""The daemon: who turns to it is recorded, who does not is not, and nobody notices when it goes."""

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kit import Box, Process, Skipped, check, check_true

TURN = "hooks of the kernel"
WORK = 300
TOTAL = "SELECT coalesce(CAST(sum(calls) AS BIGINT), 0) FROM intervals WHERE name = 'getppid'"
MAGIC = 0x57485446


class Daemon:
    """`fathom watch` with a socket of its own."""

    def __init__(self, box: Box, *options: object, trace: Path | None = None) -> None:
        box.needs_layer("syscall")
        self.box = box
        self.env = {"FATHOM_SOCKET": str(box.root / "w.sock")}
        self.trace = trace or box.trace
        words = ("watch", "--socket", self.env["FATHOM_SOCKET"], "-o", self.trace, *options)
        self.process = box.start(box.kit.fathom, *words, env=self.env)
        assert self.process.stdout
        said = self.process.stdout.readline()
        check(f"first line ({said!r}, {self.process.poll()})", b"ready\n", said or box.finish(self.process, None)[1])

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        _, said = self.box.finish(self.process, 0 if number != signal.SIGKILL else -9)
        check("stderr of the daemon", b"", said)

    def ask(self, *words: object, status: int = 0) -> tuple[bytes, bytes]:
        return self.box.finish(self.box.start(self.box.kit.fathom, *words, env=self.env), status)

    def status(self) -> Any:
        return json.loads(self.ask("watch", "status", "--format", "json")[0])


class Program:
    """The victim `watched`, with the library in it."""

    def __init__(self, box: Box, daemon: Daemon | None, env: dict[str, str] | None = None, bare: bool = False) -> None:
        orders = box.root / f"orders{len(box.started)}"
        os.mkfifo(orders)
        preload = {} if bare else {"LD_PRELOAD": str(box.kit.library)}
        everything = {**(daemon.env if daemon else {}), **preload, **(env or {})}
        self.box = box
        self.process: Process = box.start(box.kit.victim("watched"), orders, env=everything)
        self.pid = int(self.answer().split()[1])
        self.orders = os.open(orders, os.O_WRONLY)

    def answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().decode()

    def tell(self, order: str) -> str:
        os.write(self.orders, f"{order}\n".encode())
        return self.answer()

    def end(self) -> None:
        os.close(self.orders)
        _, said = self.box.finish(self.process)
        check("stderr of the program", b"", said)


@contextlib.contextmanager
def watching(box: Box, *options: object) -> Iterator[Daemon]:
    daemon = Daemon(box, *options)
    yield daemon
    daemon.stop()
    check("state", "complete", box.info()["state"])


def test_preloaded_program(box: Box) -> None:
    """It is recorded from its first instruction on, with threads and children; a stranger is not."""
    with watching(box) as daemon:
        stranger = Program(box, daemon, bare=True)
        program = Program(box, daemon)
        for one in (program, stranger):
            one.tell(f"work {WORK}")
            one.tell(f"fork {WORK}")
        status = daemon.status()
        check("who is there", (1, 1, "who connects"), (status["connected"], status["processes"], status["whom"]))
        stranger.end()
        program.end()
    check("losses", 0, box.losses())
    tids = "SELECT tid, CAST(sum(calls) AS BIGINT) FROM intervals WHERE name = 'getppid' GROUP BY tid ORDER BY tid"
    rows = box.rows(tids)
    check("questions by thread", [WORK] * 3, [row[1] for row in rows])
    check("the program's own", program.pid, rows[0][0])
    exits = box.rows("SELECT pid, exit FROM processes ORDER BY pid")
    check("processes", (program.pid, 0, 2), (*exits[0], len(exits)))


def test_connect_and_disconnect(box: Box) -> None:
    """By calls of the program, as often as it likes: what lies between is recorded. errno and descriptors stay."""
    with watching(box) as daemon:
        program = Program(box, None, {"FATHOM_SOCKET": ""})
        check("no daemon is named", "-1 1 0\n", program.tell("connect"))
        program.tell(f"work {WORK}")
        program.end()
        program = Program(box, daemon)
        check("disconnect", "0 1 0\n", program.tell("disconnect"))
        program.tell(f"work {WORK}")
        for _ in range(2):
            check("connect", "0 1 0\n", program.tell("connect"))
        program.tell(f"work {WORK}")
        check("disconnect", "0 1 0\n", program.tell("disconnect"))
        program.tell(f"work {WORK}")
        program.end()
    check("questions", 2 * WORK, int(box.value(TOTAL)))


def test_attach_and_detach(box: Box) -> None:
    with watching(box) as daemon:
        program = Program(box, None, {"FATHOM_SOCKET": ""}, bare=True)
        program.tell(f"work {WORK}")
        daemon.ask("attach", program.pid)
        program.tell(f"work {WORK}")
        program.tell(f"fork {WORK}")
        daemon.ask("attach", "--detach", program.pid)
        program.tell(f"work {WORK}")
        for words, status in ((("attach", 0), 2), (("attach", "x"), 2), (("attach", 4194304), 3)):
            _, said = daemon.ask(*words, status=status)
            check_true(f"one line: {said!r}", said.count(b"\n") == 1)
        if os.geteuid() == 0:
            nobody = ("setpriv", "--reuid=65534", "--clear-groups", box.kit.fathom)
            box.root.chmod(0o755)
            stranger = box.start(*nobody, "attach", program.pid, env=daemon.env)
            _, said = box.finish(stranger, None)
            check_true(f"a stranger is refused: {said!r}", stranger.returncode != 0)
        program.end()
    check("questions", 3 * WORK, int(box.value(TOTAL)))
    _, said = daemon.ask("attach", 1, status=3)
    check_true(f"no daemon: {said!r}", b"no daemon listens" in said)


def test_restart(box: Box) -> None:
    """A daemon is killed, and another one comes: programs go on being recorded, and the time between is told."""
    daemon = Daemon(box, "--interval", "100ms")
    program = Program(box, daemon)
    program.tell(f"work {WORK}")
    box.wait_for("what it did", lambda: int(box.value(TOTAL)) == 2 * WORK)
    box.wait_for("who it is", lambda: box.value("SELECT count(*) FROM processes") == 1)
    check("state", "running", box.info()["state"])
    daemon.stop(signal.SIGKILL)
    check("state of the killed one", "partial", box.info()["state"])
    check("what it had seen", 2 * WORK, int(box.value(TOTAL)))
    check("and whom", [(program.pid, None)], box.rows("SELECT pid, exit FROM processes"))
    program.tell(f"work {WORK}")
    box.trace = box.root / "second.fathom"
    with watching(box) as second:
        check("status", 1, second.status()["processes"])
        program.tell(f"work {WORK}")
        program.tell(f"fork {WORK}")
    check("after the gap", 3 * WORK, int(box.value(TOTAL)))
    check("the gap is told", 1, box.lost("no daemon ran from"))
    program.tell(f"work {WORK}")
    box.trace = box.root / "third.fathom"
    with watching(box):
        program.end()
    check("after a daemon that ended in order", (0, 1), (int(box.value(TOTAL)), box.lost("no daemon ran from")))


def test_daemons_that_are_none(box: Box) -> None:
    """Nothing there, a file, a dead one, a hung one, a stranger's: the program does not care."""
    box.needs_layer("syscall")
    place = box.root / "x.sock"
    env = {"FATHOM_SOCKET": str(place)}

    def is_passed(what: str) -> None:
        program = Program(box, None, env)
        check(what, "-1 1 0\n", program.tell("connect"))
        program.end()

    is_passed("nothing there")
    place.write_text("")
    is_passed("a file")
    place.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(place))
        is_passed("nobody listens")
        listener.listen(8)
        listener.settimeout(0)
        os.utime(place, (1, 1))
        is_passed("one that hangs for long")
        if os.geteuid() == 0:
            os.utime(place)
            os.chown(place, 65534, 65534)
            box.root.chmod(0o755)
            is_passed("a stranger's")
        with contextlib.suppress(BlockingIOError):
            listener.accept()
            check_true("nobody was let in", False)


def test_hostile_callers(box: Box) -> None:
    """What comes to the socket is refused in one packet or dropped, and the next one is served."""
    with watching(box) as daemon:
        request = struct.Struct("<IHHiI")
        packets = [b"", b"x", bytes(16), request.pack(MAGIC, 1, 3, 1, 0)[:12], bytes(100_000)]
        packets += [request.pack(MAGIC, 9, 1, 0, 0), request.pack(MAGIC, 1, 99, 0, 0), request.pack(MAGIC, 1, 3, -1, 0)]
        silent = []
        for packet in packets:
            caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            caller.connect(daemon.env["FATHOM_SOCKET"])
            caller.settimeout(20)
            if packet:
                caller.send(packet)
                magic, version, answer = struct.unpack("<IHH", caller.recv(8))
                check(f"answer to {packet[:20]!r}", (MAGIC, 1, 1), (magic, version, answer))
                caller.close()
            silent.append(caller)
        for _ in range(200):
            caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            caller.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                caller.connect(daemon.env["FATHOM_SOCKET"])
            silent.append(caller)
        box.wait_for("an answer in between", lambda: daemon.status()["processes"] == 0)
        for caller in silent:
            caller.close()
        program = Program(box, daemon)
        program.tell(f"work {WORK}")
        program.end()
    check("questions", 2 * WORK, int(box.value(TOTAL)))


def test_idle_programs_cost_nothing(box: Box) -> None:
    """What a daemon knows of a process it does not ask again each second, nor write down again."""
    strace = shutil.which("strace")
    if not strace:
        raise Skipped("strace is missing")
    with watching(box) as daemon:
        program = Program(box, daemon)
        state = Path(daemon.env["FATHOM_SOCKET"] + ".state")
        box.wait_for("its state", lambda: f"\n{program.pid} " in state.read_text())
        done = box.root / "done.txt"
        calls = "trace=openat,utimensat"
        tracer = box.start(strace, "-f", "-qq", "-s", "4096", "-e", calls, "-o", done, "-p", daemon.process.pid)
        touched = f'utimensat(AT_FDCWD, "{state}"'
        box.wait_for("two states more", lambda: done.exists() and done.read_text().count(touched) >= 2)
        tracer.send_signal(signal.SIGINT)
        box.finish(tracer, None)
        opened = [line for line in done.read_text().splitlines() if "openat(" in line]
        check("files of the process", [], [line for line in opened if f'"/proc/{program.pid}/' in line])
        check("states written", [], [line for line in opened if str(state) in line])
        program.end()


def test_second_daemon(box: Box) -> None:
    """Neither on the same socket nor into the same recording."""
    with watching(box) as daemon:
        other = ("watch", "-o", box.root / "other.fathom")
        _, said = daemon.ask(*other, "--socket", daemon.env["FATHOM_SOCKET"], status=3)
        check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"another daemon" in said)
        _, said = daemon.ask("watch", "-o", box.trace, "--socket", box.root / "y.sock", status=3)
        check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"exists" in said)
        check("nothing is left", False, (box.root / "other.fathom").exists())


def test_user(box: Box) -> None:
    """Every program of a user that begins, and those that ran before."""
    if os.geteuid() != 0:
        raise Skipped("only root can become another user")
    box.root.chmod(0o777)
    box.needs_layer("syscall")
    program = box.kit.victim("kernel")
    if not os.access(program.parent, os.X_OK):
        raise Skipped(f"{program.parent} is closed to others")
    user = ("setpriv", "--reuid=4242", "--clear-groups")
    older = box.start(*user, "sh", "-c", "while :; do sleep 0.05; done")
    with watching(box, "--user", "4242"):
        for who in (user, ()):
            box.run(*who, "sh", "-c", "sleep 0; true")
        time.sleep(0.2)
    older.kill()
    names = box.rows("SELECT DISTINCT command FROM processes ORDER BY 1")
    check_true(f"the user's programs: {names}", any("sleep 0; true" in name for (name,) in names))
    count = "SELECT count(*) FROM processes WHERE command = 'sh -c sleep 0; true' AND ppid = "
    check("and nobody else's", 1, int(box.value(count + str(os.getpid()))))
    check_true("one that ran before", any("sleep 0.05" in name for (name,) in names))


def make_group() -> Path:
    for place in ("/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"):
        group = Path(place) / f"fathom-test-{os.getpid()}"
        if (Path(place) / "cgroup.procs").exists():
            with contextlib.suppress(OSError):
                group.mkdir()
                return group
    raise Skipped("no control group can be made here")


def test_control_group(box: Box) -> None:
    """Who is moved into it, and what begins there; not who is outside."""
    box.needs_layer("syscall")
    group = make_group()
    try:
        (group / "below").mkdir()
        with watching(box, "--cgroup", group) as daemon:
            check("whom", f"control group {group}", daemon.status()["whom"])
            for place in (group, group / "below", None):
                move = f"echo $$ > {place}/cgroup.procs; " if place else ""
                box.run("sh", "-c", f"{move}cat /dev/null; exec {box.kit.victim('kernel')} 1 0 {WORK}")
    finally:
        for place in (group / "below", group):
            with contextlib.suppress(OSError):
                place.rmdir()
    check("questions", 2 * WORK, int(box.value(TOTAL)))
    started = "SELECT count(*) FROM processes WHERE command = 'cat /dev/null'"
    check("children", 2, int(box.value(started)))


@contextlib.contextmanager
def container(box: Box) -> Iterator[str]:
    """One of runc's, in namespaces of its own, with victims in /bin; waits to be started, ends when /go is there."""
    runc = shutil.which("runc")
    if not runc or os.geteuid() != 0:
        raise Skipped("runc is missing (Debian: runc)" if not runc else "only root can make a container")
    bundle, number = box.root / "bundle", os.urandom(32).hex()
    above = f"fathom-test-{os.getpid()}"
    for folder in ("bin", "proc", "dev"):
        (bundle / "rootfs" / folder).mkdir(parents=True)
    for victim in ("kernel", "crowd"):
        shutil.copy(box.kit.victim(victim, "-static"), bundle / "rootfs" / "bin" / victim)
    (bundle / "rootfs" / "data").write_bytes(bytes(4096))
    user = {"uid": 0, "gid": 0}
    config = {
        "ociVersion": "1.0.2",
        "process": {"user": user, "args": ["/bin/crowd", "wait", "/go"], "env": ["PATH=/bin"], "cwd": "/"},
        "root": {"path": "rootfs"},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
        "linux": {
            "cgroupsPath": f"/{above}/{number}",
            "namespaces": [{"type": one} for one in ("pid", "mount", "ipc", "uts")],
        },
    }
    (bundle / "config.json").write_text(json.dumps(config))
    words = [runc, "--root", str(box.root / "runc"), "--log", str(box.root / "runc.log")]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    try:
        if subprocess.run([*words, "create", "--bundle", bundle, number], **quiet).returncode != 0:
            raise Skipped(f"runc makes no container here: {(box.root / 'runc.log').read_text()[-300:]}")
        yield number
    finally:
        subprocess.run([*words, "delete", "--force", number], **quiet)
        for place in Path("/sys/fs/cgroup").glob(f"**/{above}"):
            with contextlib.suppress(OSError):
                place.rmdir()


def test_container(box: Box) -> None:
    """What runs in it and what is brought into it; numbers of processes are the machine's. Nobody outside."""
    box.needs_layer("syscall")
    with container(box) as number:
        runc = ("runc", "--root", box.root / "runc")
        with watching(box, "--container", number[:12]) as daemon:
            check("whom", f"container {number[:12]}", daemon.status()["whom"])
            box.run(*runc, "start", number)
            box.run(*runc, "exec", number, "/bin/kernel", 2, 1, WORK)
            (box.dir / "data").write_bytes(bytes(4096))
            box.run(box.kit.victim("kernel"), 1, 1, WORK)
            (box.root / "bundle" / "rootfs" / "go").touch()
            box.wait_for("its end", lambda: b'"stopped"' in box.run(*runc, "state", number))
    check("losses", 0, box.losses())
    check("questions", 3 * WORK, int(box.value(TOTAL)))
    programs = box.rows("SELECT command, pid > 99, exit FROM processes WHERE command LIKE '/bin/%' ORDER BY pid, exit")
    waits, works = ("/bin/crowd wait /go", True, 0), ("/bin/kernel 2 1 300", True, 0)
    check_true(f"programs: {programs}", programs[0] == waits and works in programs)
    box.finish(box.start(box.kit.fathom, "watch", "--container", "f" * 12, "-o", box.root / "x"), status=3)


def test_settings(box: Box) -> None:
    """A file of settings; options win; it is read again on demand, and what is wrong with it is said with its line."""
    box.needs_layer("syscall")
    config = box.root / "watch.yaml"
    config.write_text("layers: [syscall]\ninterval: 50ms\nfilter: call=*\n")
    with watching(box, "--config", config, "--interval", "100ms") as daemon:
        program = Program(box, daemon)
        program.tell(f"work {WORK}")
        config.write_text("layers: [syscall, sched]\nprofile: {interval_sec: 0.5}\n")
        daemon.ask("watch", "reload")
        check("layers", ["syscall", "sched"], daemon.status()["layers"])
        program.tell(f"work {WORK}")
        config.write_text("layers: [syscall]\ncolour: red\n")
        _, said = daemon.ask("watch", "reload", status=3)
        check_true(f"the line: {said!r}", b"watch.yaml:2: unknown key 'colour'" in said)
        config.write_text("layers: [syscall]\n")
        daemon.process.send_signal(signal.SIGHUP)
        box.wait_for("the layers by SIGHUP", lambda: daemon.status()["layers"] == ["syscall"])
        program.tell(f"work {WORK}")
        program.end()
    check("questions", 6 * WORK, int(box.value(TOTAL)))
    check("changes are told", 2, box.lost("the settings were changed"))
    check("a filter that was taken away", False, "kernel.filter" in box.info()["facts"])
    widths = box.rows("SELECT DISTINCT width FROM intervals WHERE layer = 'syscall'")
    check("the option wins", [(100_000_000,)], widths)
    wrong = (box.kit.fathom, "watch", "--config", config, "-o", box.root / "x")
    for text, status in (("layers: sound", 2), ("layers: posix", 3), ("[", 3), ("interval: 1us", 3)):
        config.write_text(text)
        _, said = box.finish(box.start(*wrong), status)
        check_true(f"one line: {said!r}", said.startswith(b"fathom: ") and said.count(b"\n") == 1)


def test_categories(box: Box) -> None:
    """DataCrumbs' settings: the names of its functions are their categories, in the recording and in its own lines."""
    program = box.kit.victim("kernel")
    config = box.root / "watch.yaml"
    config.write_text(f"user: [{{name: mine, link: {program}, regex: ^work$}}]\nfunctions: ['{program}:main']\n")
    (box.dir / "data").write_bytes(bytes(4096))
    with watching(box, "--config", config, "--pfw", box.root / "live.pfw") as daemon:
        box.run(program, 2, 1, 3, env={**daemon.env, "LD_PRELOAD": str(box.kit.library)})
    if box.rows("SELECT 1 FROM layers WHERE layer = 'user' AND state = 'unavailable'"):
        raise Skipped("layer user cannot be recorded")
    of_file = f"[{program.name}]"
    sums = "SELECT name, category, CAST(sum(calls) AS BIGINT) FROM summary WHERE layer = 'user' GROUP BY ALL ORDER BY 1"
    check("summary", [("main", of_file, 1), ("work", "mine", 3)], box.rows(sums))
    box.fathom("export", box.trace, "--format", "pfw", "--dialect", "datacrumbs", "-o", box.root / "later.pfw")
    for name in ("live.pfw", "later.pfw"):
        bracket, *rest = (box.root / name).read_text().splitlines()
        check("first line", "[", bracket)
        lines = [json.loads(line) for line in rest]
        told = {(line["name"], line["cat"]) for line in lines if line["cat"] != "sys"}
        check(f"categories in {name}", {("work", "mine"), (f"main {of_file}", of_file)}, told)


def test_rolling(box: Box) -> None:
    """One recording after the other, nothing lost between them; the oldest go, and that is told."""
    folder = box.trace
    daemon = Daemon(box, "--roll-time", "1s", "--interval", "50ms", "--pfw", box.root / "live.pfw")
    program = Program(box, daemon)
    for _ in range(12):
        program.tell(f"work {WORK}")
        time.sleep(0.25)
    program.end()
    daemon.stop()
    parts = sorted(folder.iterdir())
    check_true(f"{len(parts)} recordings", len(parts) >= 3)
    check("questions in all", 24 * WORK, int(box.value(TOTAL)))
    check("losses", 0, box.losses())
    lines = [json.loads(line) for line in (box.root / "live.pfw").read_text().splitlines()[1:]]
    mine = [line for line in lines if line["name"] == "getppid"]
    check("live counters", (24 * WORK, {"C"}), (sum(one["args"]["count"] for one in mine), {one["ph"] for one in mine}))
    check_true("their time goes on", max(one["ts"] for one in mine) > 2_000_000)
    for part in parts:
        box.trace = part
        check("state", "complete", box.info()["state"])
        check("times before the start", 0, box.value("SELECT count(*) FROM intervals WHERE ts < 0"))
        facts = box.info()["facts"]
        # On a busy machine the first may be over before the program works.
        worked = int(box.value("SELECT coalesce(sum(calls), 0) FROM intervals")) > 0
        check_true(f"each tells what it cost: {facts}", int(facts["kernel.syscall.added_ns"]) > 0 or not worked)
    box.trace = folder
    daemon = Daemon(box, "--roll-time", "1s", "--keep", "1")
    box.wait_for("two to be left", lambda: len(list(folder.iterdir())) == 2)
    check_true("dropped ones are counted", daemon.status()["dropped"] >= len(parts) - 1)
    box.wait_for("recordings to be counted", lambda: daemon.status()["recordings"] >= 2)
    daemon.stop()
    box.trace = max(folder.iterdir())
    facts = dict(box.rows("SELECT key, value FROM run WHERE key LIKE 'watch.%'"))
    check_true(f"it is told: {facts}", ", the last one until " in facts.get("watch.dropped", ""))


def test_unit_of_systemd(box: Box) -> None:
    """The service file is one that systemd understands."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        raise Skipped("systemd-analyze is missing")
    unit = Path(__file__).resolve().parents[2] / "packaging" / "fathom-watch.service"
    copy = box.root / unit.name
    with watching(box, "--config", unit.parent / "watch.yaml"):
        pass
    copy.write_text(unit.read_text().replace("/usr/bin/fathom", str(box.kit.fathom)))
    done = subprocess.run([analyze, "verify", copy], capture_output=True, text=True, check=False)
    check("what systemd says", (0, ""), (done.returncode, done.stderr))


def test_ranks(box: Box) -> None:
    """Each rank of an MPI job, under `run` and under the daemon."""
    mpirun = shutil.which("mpirun")
    if not mpirun:
        raise Skipped("mpirun is missing (Debian: openmpi-bin)")
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    free = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    script = f"{box.kit.victim('kernel')} 1 0 {WORK}; sleep 0.5"  # the environment is asked for in a moment
    job = (mpirun, "-np", 4, "--oversubscribe", "sh", "-c", script)
    by_rank = (
        "SELECT rank, CAST(sum(calls) AS BIGINT) FROM intervals JOIN (SELECT pid, max(rank) AS rank FROM processes "
        "GROUP BY pid) "
        "USING (pid) WHERE name = 'pread64' AND file LIKE '%/data' GROUP BY rank ORDER BY rank"
    )
    ranks = [(rank, WORK) for rank in range(4)]
    run = (box.kit.fathom, "run", "-q", "--layers", "syscall", "-o", box.trace, "--")
    box.run(*run, *job, env=free)
    check("ranks under run", ranks, box.rows(by_rank))
    box.trace = box.root / "watched.fathom"
    with watching(box) as daemon:
        box.run(*job, env={**free, **daemon.env, "LD_PRELOAD": str(box.kit.library)})
    check("ranks under watch", ranks, box.rows(by_rank))


def test_python(box: Box) -> None:
    """A Python that has no library in it connects by the package's."""
    code = (
        "import os, fathom; os.getppid(); print(fathom.connect());"
        f"[os.getppid() for _ in range({WORK})]; print(fathom.disconnect()); os.getppid()"
    )
    package = Path(__file__).resolve().parents[2] / "python"
    with watching(box) as daemon:
        env = {**daemon.env, "PYTHONPATH": str(package), "FATHOM_BUILD": str(box.kit.build)}
        said = box.run(sys.executable, "-c", code, env=env)
    check("connect, disconnect", b"True\nTrue\n", said)
    check("questions", WORK, int(box.value(TOTAL)))

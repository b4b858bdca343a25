# SPDX-License-Identifier: MIT
"""Layer cpu where performance events are refused: how the threads' time is told then, and that it still adds up."""

import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from kit import Box, Skipped, check, check_true
from test_attach_cpu import Server, sampled
from test_commands import for_everybody
from test_cpu import MS, Work, check_near

ALONE = "shares of CPU time are those of the whole machine"
NOT_OFFERED = 77
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def refusing(box: Box, number: str = "EPERM") -> tuple[object, ...]:
    """The words before a command for which perf_event_open is refused."""
    words = (box.kit.victim("refuses_perf"), number)
    process = box.start(*words, "true")
    box.finish(process, None)
    if process.returncode == NOT_OFFERED:
        raise Skipped("no seccomp here")
    return words


def record(box: Box, *command: object, options: tuple[object, ...] = ("--layers", "+cpu")) -> bytes:
    """Records where perf_event_open is refused."""
    return box.run(*refusing(box), box.kit.fathom, "run", "-q", *options, "-o", box.trace, "--", *command)


def works(out: bytes) -> list[Work]:
    lines = (line.split() for line in out.decode().splitlines())
    return [Work(int(tid), name, int(ns)) for _, tid, name, ns in lines]


def check_cpu_time(box: Box, told: list[Work]) -> None:
    """The kernel's sums are exact: what the program's own clock does not see are its start and its end."""
    for tid in {work.tid for work in told}:
        spent = sum(work.ns for work in told if work.tid == tid)
        sampled = box.value(f"SELECT sum(weight) FROM samples WHERE event = 'cpu-clock' AND tid = {tid}")
        check_near(f"CPU time of thread {tid}", spent, int(sampled), 0.05 * spent + 5 * MS)


def check_adds_up(box: Box) -> None:
    """Rows of the threads that were seen add up to their lives."""
    lives = box.rows("""
        SELECT tid, sum("end" - start), (SELECT sum(weight) FROM samples s WHERE s.tid = t.tid)
        FROM threads t WHERE ready IS NOT NULL GROUP BY tid""")
    check_true(f"threads were seen: {lives}", len(lives) > 0)
    for tid, life, weight in lives:
        check_near(f"running, waiting and ready of {tid}", int(life), int(weight or 0), MS)


def test_a_sandbox(box: Box) -> None:
    """As in Docker: the rung is `proc`, and the layer says what was refused and what changes it."""
    told = works(record(box, box.kit.victim("sampled")))
    state, reason = box.rows("SELECT state, reason FROM layers WHERE layer = 'cpu'")[0]
    check("state", "partial", state)
    check_true(f"the reason names the call: {reason}", "perf_event_open" in reason and "seccomp" in reason)
    check_true(f"and what changes it: {reason}", "--cap-add PERFMON" in reason)
    check(f"it says so once: {reason}", 1, reason.count("perf_event_open"))
    check("rungs", [("proc",)], box.rows("SELECT DISTINCT rung FROM processes"))
    check("losses", 0, box.all_losses())
    check_cpu_time(box, told)
    check_adds_up(box)
    functions = box.rows("""SELECT DISTINCT name FROM "time" WHERE state = 'running'""")
    check("functions are not known", [("unknown",)], functions)


def test_a_static_program(box: Box) -> None:
    """Nothing of ours is inside, and none is needed."""
    told = works(record(box, box.kit.victim("sampled", "-static"), options=("--layers", "cpu")))
    check("rungs", [("proc",)], box.rows("SELECT DISTINCT rung FROM processes"))
    check_cpu_time(box, told)
    check_adds_up(box)


def test_waits_have_causes(box: Box) -> None:
    """The system call and the kernel's function tell."""
    script = "(sleep 0.4; echo) | read line; sleep 0.3 & wait"
    record(box, "bash", "-c", script, options=("--layers", "cpu"))
    told = {cause: int(ns) for cause, ns in box.rows('SELECT cause, sum("time") FROM "time" GROUP BY cause')}
    for cause, least in (("pipe", 200), ("sleep", 500), ("child", 300)):
        check_true(f"{cause} is at least {least} ms: {told}", told.get(cause, 0) >= least * MS)
    check_adds_up(box)


SHORT_LIVES = """
import resource, subprocess
for _ in range(60): subprocess.run(["/bin/true"])
for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    used = resource.getrusage(whose)
    print(int(1e9 * (used.ru_utime + used.ru_stime)))
"""


def test_short_children_are_not_missing(box: Box) -> None:
    """Processes that live shorter than the time between two looks: their parents have waited for them."""
    out = record(box, sys.executable, "-c", SHORT_LIVES, options=("--layers", "cpu"))
    used = sum(map(int, out.split()))
    cpu = int(box.value("SELECT sum(weight) FROM samples WHERE event = 'cpu-clock'"))
    # What comes after the last line of the program is in one of the two alone.
    check_true(f"{cpu} ns of {used}", 0.97 * used <= cpu <= 1.2 * used + 30 * MS)
    rows = box.rows('SELECT state, "time" FROM "time"')
    check_true(f"nothing is told twice: {rows}", all(int(ns) >= 0 for _, ns in rows))


def test_refused_otherwise(box: Box) -> None:
    """kernel.perf_event_paranoid 3 answers EACCES to users."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("acting as another user needs root and setpriv")
    words = refusing(box, "EACCES")
    place = Path(tempfile.mkdtemp(prefix="fathom-rungs-"))
    box.remove.append(place)
    place.chmod(0o777)
    words = (shutil.copy(words[0], place), words[1])
    command = (box.kit.fathom, "run", "-q", "--layers", "+cpu", "-o", place / "trace", "--", "sleep", "0.1")
    box.run(*NOBODY, *words, *command)
    box.trace = place / "trace"
    check("rungs", [("proc",)], box.rows("SELECT DISTINCT rung FROM processes WHERE rung IS NOT NULL"))
    check("state", "partial", box.value("SELECT state FROM layers WHERE layer = 'cpu'"))


def test_waits_of_a_user(box: Box) -> None:
    """Without the kernel's part there are no stacks of waits; of those that last, /proc tells what they are."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("acting as another user needs root and setpriv")
    place = Path(tempfile.mkdtemp(prefix="fathom-rungs-"))
    box.remove.append(place)
    place.chmod(0o777)
    fathom, box.trace = for_everybody(box) / "fathom", place / "trace"
    script = "(sleep 0.6; echo) | read line; sleep 0.5 & wait"
    box.run(*NOBODY, fathom, "run", "-q", "--layers", "cpu", "-o", box.trace, "--", "bash", "-c", script)
    rungs = {rung for (rung,) in box.rows("SELECT DISTINCT rung FROM processes")}
    if rungs != {"perf-user"}:
        raise Skipped(f"users are on rung {rungs} here")
    told = {cause: int(ns) for cause, ns in box.rows('SELECT cause, sum("time") FROM "time" GROUP BY cause')}
    for cause, least in (("pipe", 300), ("sleep", 800), ("child", 300)):
        check_true(f"{cause} is at least {least} ms: {told}", told.get(cause, 0) >= least * MS)


def test_a_container(box: Box) -> None:
    """Numbers of processes of its own, and a /proc that shows no others."""
    container = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
    words = refusing(box)
    process = box.start(*container, "true")
    box.finish(process, None)
    if process.returncode != 0:
        raise Skipped("no namespaces here")
    command = (box.kit.fathom, "run", "-q", "--layers", "cpu", "-o", box.trace, "--", box.kit.victim("sampled"))
    told = works(box.run(*container, *words, *command))
    check("rungs", [("proc",)], box.rows("SELECT DISTINCT rung FROM processes"))
    check_cpu_time(box, told)
    check_adds_up(box)


def test_processes_that_run(box: Box) -> None:
    """`attach`: all threads from then on, later children, and the reason; children of before are not its business."""
    server, another = Server(box), Server(box)
    (before,) = server.tell("fork")
    words = (box.kit.fathom, "attach", "-o", box.trace, "--layers", "cpu", "-q", server.pid, another.pid)
    attached = box.start(*refusing(box), *words)
    box.wait_for("CPU time", sampled(box, {server.busy, another.busy}))
    (child,) = server.tell("fork")
    box.wait_for("CPU time of the child", sampled(box, {child}))
    server.end()
    another.end()
    check("stderr", b"", box.finish(attached)[1])
    state, reason = box.rows("SELECT state, reason FROM layers WHERE layer = 'cpu'")[0]
    check("state", "partial", state)
    check_true(f"the call and what changes it: {reason}", "perf_event_open" in reason and "--cap-add PERFMON" in reason)
    seen = box.rows("SELECT DISTINCT pid, rung FROM processes ORDER BY pid")
    check("processes", sorted((pid, "proc") for pid in (server.pid, another.pid, child)), seen)
    check_true(f"the child of before, {before}, is not among them", before not in dict(seen))
    check_adds_up(box)
    wall, cpu, slept = map(
        int,
        box.values(
            "SELECT CAST(value AS BIGINT) FROM run WHERE key = 'duration_ns'",
            f"SELECT sum(weight) FROM samples WHERE event = 'cpu-clock' AND tid = {server.busy}",
            f"SELECT sum(weight) FROM samples WHERE event = 'off-cpu' AND tid = {server.idle}",
        ),
    )
    check_true(f"nothing of before: {cpu} of {wall} ns", cpu <= wall + 20 * MS)
    check_true(f"the sleeper slept: {slept} of {wall} ns", 0.5 * wall <= slept <= wall)
    waits = box.rows("""SELECT DISTINCT cause FROM "time" WHERE state = 'waiting'""")
    check_true(f"it is known for what: {waits}", ("poll",) in waits)
    event = box.start(*refusing(box), *words[:3], box.root / "no", server.pid)
    box.finish(event, 3)
    check("a recording", False, (box.root / "no").exists())


def test_processes_of_others(box: Box) -> None:
    """/proc tells their times to everybody; a user may attach to the own ones alone."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("acting as another user needs root and setpriv")
    words = refusing(box, "EACCES")
    place = Path(tempfile.mkdtemp(prefix="fathom-rungs-"))
    box.remove.append(place)
    place.chmod(0o777)
    words = (
        *NOBODY,
        shutil.copy(words[0], place),
        words[1],
        for_everybody(box) / "fathom",
        "attach",
        "--layers",
        "cpu",
    )
    server, own = Server(box), Server(box, *NOBODY, folder=place)
    _, said = box.finish(box.start(*words, server.pid, "-o", place / "no"), 3)
    check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"another user" in said)
    check("a recording", False, (place / "no").exists())
    box.trace = place / "trace"
    box.finish(box.start(*words, own.pid, "-o", box.trace, "--for", "500ms", "-q"))
    check("rung", "proc", box.value(f"SELECT rung FROM processes WHERE pid = {own.pid}"))
    server.end()
    own.end()


def test_a_daemon(box: Box) -> None:
    """`watch`: those that are handed over, recordings that follow each other, and the reason."""
    server, stranger = Server(box), Server(box)
    env = {"FATHOM_SOCKET": str(box.root / "w.sock")}
    words = ("watch", "--layers", "cpu", "--socket", env["FATHOM_SOCKET"], "-o", box.trace, "--roll-time", "1s")
    daemon = box.start(*refusing(box), box.kit.fathom, *words, env=env)
    assert daemon.stdout
    check("first line", b"ready\n", daemon.stdout.readline())
    box.run(box.kit.fathom, "attach", server.pid, env=env)
    first = len(list(box.trace.iterdir()))  # it came in the one before
    box.wait_for("three more recordings", lambda: len(list(box.trace.iterdir())) >= first + 3)
    end = len(list(box.trace.iterdir())) - 1  # it left in this one, or later
    box.run(box.kit.fathom, "attach", "--detach", server.pid, env=env)
    daemon.send_signal(signal.SIGTERM)
    box.finish(daemon)
    server.end()
    stranger.end()
    recordings = sorted(box.trace.iterdir())
    for number, box.trace in enumerate(recordings):
        check("rungs", "proc", box.value("SELECT any_value(rung) FROM processes") or "proc")
        if number >= end or (number < first and not box.rows("SELECT pid FROM processes")):
            continue  # it had left, or had not come yet
        check("processes", [(server.pid,)], box.rows("SELECT DISTINCT pid FROM processes"))
        check_adds_up(box)
        threads = box.rows("SELECT pid, tid, name FROM threads")
        check(f"threads of {threads}", 3, len({tid for _, tid, _ in threads}))
        check_true("the reason", "perf_event_open" in box.value("SELECT reason FROM layers WHERE layer = 'cpu'"))


def test_another_event_has_no_other_way(box: Box) -> None:
    """What it counts, nobody else can tell."""
    record(box, "true", options=("--layers", "+cpu", "--sample-event", "page-faults"))
    check("state", "unavailable", box.value("SELECT state FROM layers WHERE layer = 'cpu'"))
    words = ("watch", "--layers", "cpu", "--sample-event", "page-faults", "--socket", box.root / "w.sock")
    _, said = box.finish(box.start(*refusing(box), box.kit.fathom, *words, "-o", box.root / "no"), 3)
    check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"perf_event_open" in said)


def doctor(box: Box, *before: object) -> dict[str, str]:
    told = json.loads(box.run(*before, box.kit.fathom, "doctor", "--format", "json"))
    return next(row for row in told["layers"] if row["layer"] == "cpu")


def test_doctor_tells_the_rung(box: Box) -> None:
    row = doctor(box, *refusing(box))
    check_true(f"/proc is what is left: {row}", "/proc" in str(row) and "PERFMON" in str(row["fix"]))
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return
    user = doctor(box, *NOBODY)
    paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if paranoid == 2:
        check("a user can see the kernel's part", "sudo sysctl kernel.perf_event_paranoid=1", user["fix"])

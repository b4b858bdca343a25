# SPDX-License-Identifier: MIT
"""Processes: however they begin and end, each is recorded, and ends as it would have ended alone."""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from kit import Box, Process, check, check_true

LOOKS = "name = 'pread' AND size = 13"


def processes_with(box: Box, where: str) -> int:
    return int(box.value(f"SELECT count(DISTINCT pid) FROM events WHERE {where}"))


def expect_looks(box: Box, looks: int, processes: int) -> None:
    check("reads", looks, box.count(LOOKS))
    check("processes that read", processes, processes_with(box, LOOKS))
    check("losses", 0, box.losses())


def test_fork_storm(box: Box) -> None:
    number = 3000 if box.kit.full else 150
    box.record(box.kit.victim("lives"), "forks", number)
    expect_looks(box, number + 1, number + 1)


def test_fork_by_system_call(box: Box) -> None:
    """A child that no hook saw coming is found by its first call."""
    box.not_emulated("qemu-user wipes no pages (MADV_WIPEONFORK), by which such a child is found")
    number = 1000 if box.kit.full else 100
    box.record(box.kit.victim("lives"), "raw-forks", number)
    expect_looks(box, number + 1, number + 1)


def test_nested_forks(box: Box) -> None:
    depth = 9 if box.kit.full else 6
    box.record(box.kit.victim("lives"), "nested", depth)
    expect_looks(box, 2 ** (depth + 1) - 1, 2 ** (depth + 1) - 1)


def test_vfork_and_exec(box: Box) -> None:
    """Children of vfork are processes of their own until they exec; a failed exec between is no harm."""
    box.not_emulated("qemu-user follows no exec")
    number = 300 if box.kit.full else 30
    box.record(box.kit.victim("lives"), "vforks", number)
    expect_looks(box, 2 * number, number + 1)
    check("closes of fd 0", number, box.count("name = 'close' AND fd = 0"))
    check("by the children", number, processes_with(box, "name = 'close' AND fd = 0"))
    check("failed execs", number // 2, box.count("name = 'execl' AND error = 'ENOENT'"))
    check("vforks", number, box.count("name = 'vfork' AND ret > 0"))


def test_posix_spawn(box: Box) -> None:
    """File actions work; the child that does not exist is an error of the call."""
    box.not_emulated("qemu-user follows no exec")
    number = 300 if box.kit.full else 30
    box.record(box.kit.victim("lives"), "spawns", number)
    expect_looks(box, number + 1, number + 1)
    check("what they wrote", b"looked\n" * number, (box.dir / "spawned").read_bytes())
    check("failed spawns", 1, box.count("name = 'posix_spawn' AND error = 'ENOENT'"))
    check(
        "writes name the file of the action",
        number,
        box.count(f"name = 'write' AND file = '{box.dir}/spawned' AND bytes = 7"),
    )


def test_system_and_popen(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    number = 100 if box.kit.full else 10
    box.record(box.kit.victim("lives"), "shells", number)
    expect_looks(box, 2 * number + 1, 2 * number + 1)
    check("calls of system", number, box.count("name = 'system' AND ret = 0"))


def test_daemon_outlives(box: Box) -> None:
    """The command ends, its grandchild goes on: what it does afterwards is in the recording."""
    box.record(box.kit.victim("lives"), "daemon", 60)
    box.wait_for("end of the daemon", lambda: (box.dir / "daemon.done").exists())
    time.sleep(0.1)
    check("reads", 61, box.count(LOOKS))


def test_a_daemon_hides_nothing_of_its_program(box: Box) -> None:
    """The program's events may lie where its daemon goes on writing; the summary has them, and says that one lives."""
    box.not_emulated("a recorder starts it")
    shell = 'sleep 3 > /dev/null 2>&1 & read line < "$0"; exit 0'
    run = (box.kit.fathom, "run", "-o", box.trace, "--", "sh", "-c", shell, "/etc/hosts")
    _, told = box.finish(box.start(*run), 0)
    words = told.decode()
    check_true(f"it says that one goes on: {words}", "  still running: " in words)
    check_true(f"it has the program's events: {words}", "/etc/hosts" in words and ", 0 events" not in words)


def test_exec_fails_then_works(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    box.record(box.kit.victim("lives"), "exec-fails")
    check("reads", 11, box.count(LOOKS))
    check("failures", 11, box.count("name LIKE 'exec%' AND error = 'ENOENT'"))
    check("the one that worked", 1, box.count("name = 'execve' AND error IS NULL"))
    images = box.rows("SELECT command FROM processes ORDER BY start")
    check("images", 2, len(images))


ENDS = {
    "exit-in-atexit": 7,
    "abort-handled": 128 + signal.SIGABRT,
    "segv": 128 + signal.SIGSEGV,
    "kill": 128 + signal.SIGKILL,
    "quick": 11,
    "raw": 12,
    "underscore": 13,
    "return": 14,
}


def test_ends(box: Box) -> None:
    """Exit statuses and signals pass through, and stand in the recording."""
    box.not_emulated("no recorder waits for the program")
    for mode, status in ENDS.items():
        box.trace = box.root / f"{mode}.fathom"
        box.record(box.kit.victim("lives"), mode, status=status)
        check(
            f"reads of {mode}",
            2 if mode in ("exit-in-atexit", "abort-handled") else 1,
            box.count(LOOKS),
        )
        check(f"exit of {mode}", [(status,)], box.rows('SELECT "exit" FROM processes'))
        check(f"losses of {mode}", 0, box.losses())


def test_not_a_program(box: Box) -> None:
    box.record("./nowhere", status=127)
    (box.dir / "text").write_text("not executable")
    box.trace = box.root / "second.fathom"
    box.record("./text", status=126)


def test_signal_reaches_the_program(box: Box) -> None:
    """SIGTERM to the recorder is the program's to decide about."""
    (box.dir / "patient").write_text("trap 'echo got; exit 5' TERM\ntouch ready\nwhile :; do sleep 0.05; done\n")
    process = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", "sh", "patient")
    box.wait_for("program", lambda: (box.dir / "ready").exists())
    process.send_signal(signal.SIGTERM)
    out, _ = box.finish(process, 5)
    check("what the program said", b"got\n", out)


def signals_told(box: Box, send: Callable[[Process], None]) -> dict[str, int]:
    """What the victim got. SIGUSR1 to the recorder alone marks the end of all before."""
    process = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", box.kit.victim("told"))
    box.wait_for("program", lambda: (box.dir / "ready").exists())
    send(process)
    process.send_signal(signal.SIGUSR1)
    box.wait_for("mark", lambda: (box.dir / f"told-{signal.SIGUSR1:02}").exists())
    process.send_signal(signal.SIGUSR2)
    return box.told(box.finish(process)[0])


def expect_told(box: Box, send: Callable[[Process], None], forwarded: int) -> None:
    """The victim gets what was sent once, as without us."""
    expected = {"1": 0, "2": 1, "3": 1, "10": 1, "12": 1, "15": 3, "forwarded": forwarded}
    check("signals", expected, signals_told(box, send))


def pending(pid: int, number: int) -> bool:
    """Whether the kernel keeps this signal for the process or one of its children: it would swallow the next one."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    statuses = "".join(Path(f"/proc/{one}/status").read_text() for one in (pid, *children))
    sets = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", statuses, re.MULTILINE)
    return any(int(one, 16) >> (number - 1) & 1 for one in sets)


def test_signals_to_the_group_come_once(box: Box) -> None:
    """A signal that kill sends to the whole process group has reached the program: it is not forwarded. One to the
    recorder alone is, whoever sent it and whatever was sent before."""

    def each(process: Process, number: int, send: Callable[[], None]) -> None:
        told = box.dir / f"told-{number:02}"
        told.unlink(missing_ok=True)
        box.wait_for("nothing to read", lambda: not pending(process.pid, number))
        send()
        box.wait_for(f"signal {number}", told.exists)

    def send(process: Process) -> None:
        each(process, signal.SIGTERM, lambda: os.killpg(process.pid, signal.SIGTERM))
        each(process, signal.SIGTERM, lambda: os.kill(process.pid, signal.SIGTERM))
        each(process, signal.SIGTERM, lambda: os.killpg(process.pid, signal.SIGTERM))
        each(process, signal.SIGINT, lambda: box.run("kill", "-INT", "--", f"-{process.pid}"))
        each(process, signal.SIGQUIT, lambda: box.run("kill", "-QUIT", "--", str(process.pid)))

    expect_told(box, send, forwarded=4)


def test_equal_signals_in_quick_succession(box: Box) -> None:
    """Those to the group are never forwarded, whenever they come; of those to the recorder alone at least one is."""
    bursts, size = (2000, 2) if box.kit.full else (300, 2)

    def burst(process: Process, number: int, send: Callable[[int, int], None]) -> None:
        for turn in range(bursts):
            box.wait_for("nothing to read", lambda: not pending(process.pid, number))
            for _ in range(size):
                send(process.pid, number)
                until = time.perf_counter_ns() + turn % 300 * 1000
                while time.perf_counter_ns() < until:
                    pass

    def send(process: Process) -> None:
        burst(process, signal.SIGTERM, os.killpg)
        burst(process, signal.SIGINT, os.kill)

    told = signals_told(box, send)
    check("those to the group that were forwarded", 2, told["forwarded"] - told["2"])
    check("those to the group", True, bursts // 2 <= told["15"] <= bursts * size)
    check("those to the recorder", True, bursts // 2 <= told["2"] <= bursts * size)


def test_stopped_group_goes_on(box: Box) -> None:
    """The whole group is stopped and the recorder alone goes on: signals still come once, and nothing waits."""

    def send(process: Process) -> None:
        os.killpg(process.pid, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGCONT)
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGQUIT):
            told = box.dir / f"told-{number:02}"
            box.wait_for("signal before", (box.dir / f"told-{signal.SIGTERM:02}").exists)
            told.unlink(missing_ok=True)
            box.wait_for("nothing to read", lambda number=number: not pending(process.pid, number))
            os.killpg(process.pid, number)
            box.wait_for(f"signal {number}", told.exists)

    expect_told(box, send, forwarded=3)


def test_killed_at_random(box: Box) -> None:
    """SIGKILL at any moment: at most the torn last record of a thread is missing."""
    for turn in range(30 if box.kit.full else 5):
        box.trace = box.root / f"killed-{turn}"
        process = box.start(box.kit.victim("progress"), env=box.unsupervised())
        box.wait_for("progress", lambda: progress_of(box.dir)[0] > 0 and progress_of(box.dir)[1] > 0)
        time.sleep(0.013 * turn)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for size, done in zip((5, 6), progress_of(box.dir)):
            reads = box.count(f"name = 'pread' AND size = {size}")
            check_true(f"turn {turn}: {done} reads done, {reads} recorded", reads in (done, done + 1))
        (box.dir / "progress").unlink()


def progress_of(directory: Path) -> tuple[int, int]:
    path = directory / "progress"
    content = path.read_bytes()[:16] if path.exists() else b""
    content = content.ljust(16, b"\0")
    return int.from_bytes(content[:8], "little"), int.from_bytes(content[8:], "little")

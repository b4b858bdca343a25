# SPDX-License-Identifier: MIT
"""Alnair's logs under `fathom run`: while programs run, as its library alone writes them; and what waiting costs."""

import os
import signal
import subprocess
import time
from pathlib import Path

from jobs import alone
from kit import Box, Process, check, check_true
from test_alnair import copying, counts, library, same_logs, timeline
from test_cuda import environment, program

MOST_NAPS = 400  # a second: two threads that look every 10 ms, and as much again
COPIES = ("cudaMemcpy", "cudaMemcpyAsync")


def supervised(box: Box, *command: object, layers: str = "+cuda") -> list[str]:
    words = (box.kit.fathom, "run", "-q", "--layers", layers, "-o", box.trace, "--", *command)
    return [str(word) for word in words]


def started(box: Box, logs: Path, *command: object) -> Process:
    """With an input that programs wait for."""
    env = {**os.environ, **environment(box, PFLOG=str(logs))}
    running = subprocess.Popen(
        supervised(box, *command),
        cwd=box.dir,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    box.started.append(running)
    return running


def copies(log: Path) -> int:
    return counts(log)["cudaMemcpy"] if log.exists() else 0


def test_while_it_runs(box: Box) -> None:
    """Two processes and the shell around them: a pair for each, the plain names for both, whole at any moment."""
    logs = box.dir / "deep" / "logs"
    used = copying(box)
    both = f"exec 3<&0; {used} linked wait <&3 & {used} linked wait <&3; wait"
    with started(box, logs, "sh", "-c", both) as running:
        assert running.stdin
        box.wait_for("counts", lambda: copies(logs / "metrics.log") == 10)
        box.wait_for("lines", lambda: len(timeline(logs / "timeline.log")) == 42)
        box.wait_for("pairs", lambda: [copies(log) for log in logs.glob("metrics-*.log")] == [5, 5])
        check("it lives", None, running.poll())
        time.sleep(1.2)  # the clock goes on
        running.stdin.close()
        while running.poll() is None:
            counts(logs / "metrics.log")
    check("at the end", 210, copies(logs / "metrics.log"))
    check("each call once", 442, len(timeline(logs / "timeline.log")))
    same_logs(box, logs)
    check("recorded", 210, box.count("name = 'cudaMemcpy'"))


def test_next_run(box: Box) -> None:
    """Goes on in timeline.log, as without `fathom run`."""
    logs = box.dir / "logs"
    for turn in (1, 2):
        box.trace = box.root / f"{turn}.fathom"
        box.run(*supervised(box, copying(box), "linked"), env=environment(box, PFLOG="logs"))
        check("sums", 5, copies(logs / "metrics.log"))
        check("lines", 21 * turn, len(timeline(logs / "timeline.log")))


def test_every_end(box: Box) -> None:
    """Killed, by _exit, and by Ctrl-C: the last calls are there when `fathom run` ends."""
    for end, status in (("kill", 137), ("quick", 0)):
        box.trace = box.root / f"{end}.fathom"
        logs = box.dir / end
        box.run(*supervised(box, copying(box), "linked", end), env=environment(box, PFLOG=str(logs)), status=status)
        check(end, [5, 5], [counts(logs / "metrics.log")[name] for name in COPIES])
        check(f"{end}: lines", 21, len(timeline(logs / "timeline.log")))
    box.trace, logs = box.root / "told.fathom", box.dir / "told"
    with started(box, logs, copying(box), "linked", "wait") as running:
        box.wait_for("counts", lambda: copies(logs / "metrics.log") == 5)
        os.kill(running.pid, signal.SIGINT)
        check("status", 128 + signal.SIGINT, running.wait(60))
    check("lines", 21, len(timeline(logs / "timeline.log")))
    same_logs(box, logs)


def test_a_folder_that_cannot_be(box: Box) -> None:
    """Is said when the program has ended; the program and its recording are as ever."""
    env = environment(box, PFLOG="/proc/nowhere/logs")
    out, err = box.finish(box.start(*supervised(box, copying(box), "linked"), env=env))
    check("output", b"refused 21\n", out)
    check_true(f"words {err!r}", err.startswith(b"fathom: ") and b"/proc/nowhere" in err and err.count(b"\n") == 1)
    check("recorded", 5, box.count("name = 'cudaMemcpy'"))


def test_nobody_uses_cuda(box: Box) -> None:
    """Programs that do not, and runs that do not record it, make no folder."""
    for command, layers in ((("/bin/true",), "+cuda"), ((copying(box), "linked"), "posix")):
        box.run(*supervised(box, *command, layers=layers), env=environment(box, PFLOG="logs"))
        check("made", False, (box.dir / "logs").exists())
        subprocess.run(["rm", "-rf", box.trace], check=True)


def test_more_than_fits(box: Box) -> None:
    """More than segments and one log hold, from one thread and from many: each call once, here and in the recording."""
    logs = box.dir / "burst"
    number = 1_200_000 if box.kit.full else 50_000
    box.run(*supervised(box, program(box), "resolver", "burst", number), env=environment(box, PFLOG=str(logs)))
    parts = len(list(box.trace.glob("events-*.parquet")))
    check_true(f"logs that were packed: {parts}", parts > 1 or not box.kit.full)
    check("launches", number, counts(logs / "metrics.log")["cuLaunchKernel"])
    check("recorded", number, box.count("name = 'cuLaunchKernel'"))
    same_logs(box, logs)
    box.trace, logs = box.root / "threads.fathom", box.dir / "threads"
    box.run(*supervised(box, program(box), "resolver", "threads", 64), env=environment(box, PFLOG=str(logs)))
    check("copies", 6400, counts(logs / "metrics.log")["cuMemcpyH2D"])
    same_logs(box, logs)


def test_with_layer_heap(box: Box) -> None:
    """Both want a library of their own; there is one for both."""
    logs = box.dir / "logs"
    command = supervised(box, copying(box), "linked", layers="+cuda,heap")
    box.run(*command, env=environment(box, PFLOG=str(logs)))
    check("copies", [5, 5], [counts(logs / "metrics.log")[name] for name in COPIES])
    check_true("heap", box.value("SELECT count(*) FROM intervals WHERE layer = 'heap'") > 0)


def naps(pid: int) -> int:
    """How often its threads went to sleep of their own accord: a machine that is busy only makes it rarer."""
    key = "voluntary_ctxt_switches:"
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "status").read_text().split(f"\n{key}")[1].split()[0]) for task in tasks)


def naps_a_second(pid: int) -> float:
    begin, before = time.monotonic(), naps(pid)
    time.sleep(4)
    return (naps(pid) - before) / (time.monotonic() - begin)


@alone("measures what waiting costs")
def test_nothing_happens(box: Box) -> None:
    """A collector that waits for calls costs next to nothing, and is there when they come."""
    logs = box.dir / "logs"
    env = {**os.environ, **environment(box), "LD_PRELOAD": str(library(box)), "PFLOG": str(logs)}
    command = [copying(box), "linked", "wait"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as running:
        assert running.stdin
        box.wait_for("lines", lambda: copies(logs / "metrics.log") == 5)
        (hidden,) = logs.glob(".*")
        found = subprocess.run(["pgrep", "-f", f"collect --quiet -- {hidden}"], capture_output=True, text=True)
        often = naps_a_second(int(found.stdout))
        running.stdin.close()
    check_true(f"looks {often:.0f} times a second", often < MOST_NAPS)
    check("at the end", 105, copies(logs / "metrics.log"))

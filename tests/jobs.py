# SPDX-License-Identifier: MIT
"""Runs tests side by side: each in a process of its own, whose output is kept and shown when it has ended.

A job that takes longer than its limit is ended with everything it started, and counts as failed. Of jobs that share
something (`turn`), one runs at a time, beside others. Jobs that cannot share the machine are marked with @alone and run
one by one when all the others are done. Last come those that failed and can be run again. Tests that pass only then
count as unsteady, not as passed, and are named at the end.
"""

import contextlib
import fcntl
import json
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

Counts = dict[str, int]  # passed, failed, skipped, unsteady
Function = TypeVar("Function", bound=Callable[..., Any])
Thing = TypeVar("Thing")

LIMIT_S = 300.0
GRACE_S = 5.0  # for a job to end what it started, when it is told to end
LAST_LINES = 40  # of a job that was ended
SLOWEST = 10
POLL_S = 0.01


class Overdue(BaseException):
    """Raised in a job whose time is over. No test catches it by chance: it is no Exception."""


def alone(reason: str) -> Callable[[Function], Function]:
    """Marks a test that cannot share the machine with another one."""

    def mark(test: Function) -> Function:
        test.alone = reason  # type: ignore[attr-defined]
        return test

    return mark


def may_take(seconds: float) -> Callable[[Function], Function]:
    """Marks a test that needs more time than LIMIT_S."""

    def mark(test: Function) -> Function:
        test.limit = seconds  # type: ignore[attr-defined]
        return test

    return mark


@dataclass
class Job:
    name: str
    work: Callable[[], Counts]  # runs in a process of its own
    limit: float = LIMIT_S
    alone: str = ""  # why nothing may run beside it
    turn: str = ""  # what it has for itself while it runs: jobs that name the same take turns
    again: Callable[[], Counts] | None = None  # the same work anew
    failed_before: int = 0  # tests of it that failed the first time
    said_before: str = ""  # its words then

    @property
    def last_word_before(self) -> str:
        return self.said_before.splitlines()[-1] if self.said_before else "without a word"


@dataclass
class Running:
    job: Job
    pid: int
    begin: float
    folder: Path

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    def cpu_seconds(self) -> float:
        """What the job used, with the children that it waited for; 0 where it was killed."""
        told = self.folder / "cpu"
        return float(told.read_text()) if told.exists() else 0.0

    def counts(self) -> Counts | None:
        """What the job said; None where it died before it could."""
        told = self.folder / "counts"
        return json.loads(told.read_text()) if told.exists() else None


def default_number() -> int:
    """How many jobs run side by side: three for two cores, since half of a job's time is waiting. FATHOM_JOBS is for
    runners that another one started."""
    return int(os.environ.get("FATHOM_JOBS", 0)) or len(os.sched_getaffinity(0)) * 3 // 2


def part_of(things: Sequence[Thing], part: str) -> list[Thing]:
    """What belongs to a part: of 2/5, the second of each five, so that those that stand together are dealt out. "" is
    the whole."""
    number, parts = (int(word) for word in (part or "1/1").split("/"))
    if not 1 <= number <= parts:
        raise ValueError(f"there is no part {part}")
    return list(things[number - 1 :: parts])


@contextlib.contextmanager
def only_one(target: Path) -> Iterator[None]:
    """Whoever makes a file or folder that tests share holds this meanwhile; the others wait."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- processes


def begin_of(pid: int) -> str:
    """When a process began, in the kernel's words; "" where none lives. Numbers are used again."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def descendants(pid: int) -> dict[int, str]:
    """All processes below one, with the times when they began."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found: dict[int, str] = {}
    below = [pid]
    while below:
        for child in children.get(below.pop(), []):
            found[child] = begin_of(child)
            below.append(child)
    return found


def kill_all(processes: dict[int, str]) -> None:
    for pid, begin in processes.items():
        if begin and begin_of(pid) == begin:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def has_ended(pid: int, seconds: float = 0) -> bool:
    """Whether our child has ended, or does so in this time. It is no zombie any more then."""
    until = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() >= until:
                return False
            time.sleep(POLL_S)
    return True


def end(pid: int) -> None:
    """Ends a job and what it started: first it may do so itself, then its group and all below it are killed."""
    started = descendants(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    ended = has_ended(pid, GRACE_S)
    if not ended:
        started |= descendants(pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    kill_all(started)
    if not ended:
        has_ended(pid, GRACE_S)


def overdue(*_: object) -> NoReturn:
    raise Overdue


def work_on(job: Job, folder: Path) -> NoReturn:
    """The process of a job. It never returns to its caller, whose work is another one's."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, overdue)
        nothing = os.open(os.devnull, os.O_RDONLY)
        output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for descriptor, place in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(descriptor, place)
        sys.stdout, sys.stderr = (os.fdopen(place, "w", buffering=1, closefd=False) for place in (1, 2))
        counts = job.work()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (folder / "counts").write_text(json.dumps(counts))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        (folder / "cpu").write_text(str(sum(os.times()[:4])))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def start(job: Job, folder: Path) -> Running:
    folder.mkdir()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        work_on(job, folder)
    return Running(job, pid, time.monotonic(), folder)


# --- the scheduler


def with_unsteady(counts: Counts, failed_before: int) -> Counts:
    """The counts of a second run: what failed in the first one and no longer fails is unsteady, whatever it is now."""
    unsteady = max(0, failed_before - counts.get("failed", 0))
    passed = max(0, counts.get("passed", 0) - unsteady)
    skipped = max(0, counts.get("skipped", 0) - max(0, unsteady - counts.get("passed", 0)))
    unsteady += counts.get("unsteady", 0)  # of a runner that told of some itself
    return {**counts, "passed": passed, "skipped": skipped, "unsteady": unsteady}


class Schedule:
    """Starts jobs where there is room and gathers what they say."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number = number
        self.folder = folder
        self.running: list[Running] = []
        self.repeats: list[Job] = []  # of those that failed
        self.unsteady: list[Job] = []  # those that passed then
        self.counts: Counts = {"passed": 0, "failed": 0, "skipped": 0, "unsteady": 0}
        self.seconds: list[tuple[float, str]] = []
        self.cpu_seconds = 0.0  # of jobs that have ended
        self.started = 0

    def run(self, jobs: list[Job]) -> None:
        shared = [job for job in jobs if not job.alone]
        try:
            self.run_some(shared, self.number)
            self.run_some([job for job in jobs if job.alone], 1)
            self.run_some(self.repeats, 1)
        finally:
            for one in self.running:
                end(one.pid)

    def run_some(self, jobs: list[Job], number: int) -> None:
        begin, cpu_before = time.monotonic(), self.cpu_seconds
        self.run_all(jobs, number)
        if len(jobs) > 1:
            how = f"{number} at a time" if number > 1 else "one by one"
            took, cpu = time.monotonic() - begin, self.cpu_seconds - cpu_before
            print(f"{len(jobs)} jobs, {how}: {took:.1f} s, {cpu:.1f} s of CPU", flush=True)

    def run_all(self, jobs: list[Job], number: int) -> None:
        waiting = list(jobs)
        while waiting or self.running:
            while len(self.running) < number and (job := self.next_of(waiting)):
                waiting.remove(job)
                self.started += 1
                self.running.append(start(job, self.folder / str(self.started)))
            for one in list(self.running):
                self.look_after(one)
            time.sleep(POLL_S)

    def next_of(self, waiting: list[Job]) -> Job | None:
        """Whose turn it is goes first: who takes turns at the end leaves places empty."""
        taken = {one.job.turn for one in self.running if one.job.turn}
        free = [job for job in waiting if job.turn not in taken]
        return next((job for job in free if job.turn), free[0] if free else None)

    def look_after(self, one: Running) -> None:
        took = time.monotonic() - one.begin
        if has_ended(one.pid):
            self.running.remove(one)
            self.gather(one, took, one.output)
        elif took > one.job.limit:
            end(one.pid)
            self.running.remove(one)
            last = "\n".join(one.output.splitlines()[-LAST_LINES:])
            self.gather(one, took, f"FAIL {one.job.name}: no end within {one.job.limit:g} s; its last words:\n{last}")

    def gather(self, one: Running, took: float, output: str) -> None:
        counts = one.counts()
        self.cpu_seconds += one.cpu_seconds()
        if counts is None:
            counts = {"failed": 1}
            if not output.startswith("FAIL"):
                output = f"FAIL {one.job.name}: it ended without a result\n{output}"
        if counts.get("failed") and one.job.again is not None and self.number > 1:
            said = output.removeprefix("FAIL ").rstrip()
            print(f"unsteady {said}; it is run again, alone", flush=True)
            again = replace(one.job, work=one.job.again, again=None, failed_before=counts["failed"], said_before=said)
            self.repeats.append(again)
            return
        print(output if output.endswith("\n") or not output else output + "\n", end="", flush=True)
        self.seconds.append((took, f"{one.job.name}, {one.cpu_seconds():.1f} s of CPU"))
        if one.job.failed_before > counts.get("failed", 0):
            self.unsteady.append(one.job)
        counts = with_unsteady(counts, one.job.failed_before)
        for outcome, count in counts.items():
            self.counts[outcome] += count


def print_slowest(seconds: list[tuple[float, str]]) -> None:
    if len(seconds) > 1:
        print("the slowest:")
    for took, name in sorted(seconds, reverse=True)[:SLOWEST] if len(seconds) > 1 else []:
        print(f"  {took:6.1f} s  {name}")


def closing_line(counts: Counts) -> str:
    """What a runner prints last. One that started it reads this."""
    line = f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
    return line + (f", {counts['unsteady']} unsteady" if counts.get("unsteady") else "")


def counts_of_closing_line(text: str) -> Counts | None:
    """The last closing line of a runner's output; older ones name no skipped tests. None: there is none."""
    outcomes = r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?(?:, (\d+) unsteady)?"
    found = re.findall(outcomes, text)
    names = ("passed", "failed", "skipped", "unsteady")
    return {name: int(number or 0) for name, number in zip(names, found[-1])} if found else None


def run(jobs: list[Job], number: int) -> Counts:
    """Runs all jobs, so many side by side, prints what they print, the slowest and the unsteady of them."""
    with tempfile.TemporaryDirectory(prefix="fathom-jobs-") as name:
        schedule = Schedule(number, Path(name))
        schedule.run(jobs)
    print_slowest(schedule.seconds)
    for job in schedule.unsteady:
        print(f"unsteady: {job.name} failed, and passed when it was run again, alone: {job.last_word_before}")
    return schedule.counts

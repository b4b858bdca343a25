# SPDX-License-Identifier: MIT
"""Events that are there after SIGKILL, against what the program itself counted in shared memory."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import dftracer
from jobs import Bench
from row import Row

INSTANTS = (0.05, 0.3, 1.0, 2.5)  # seconds between the program's first call and its end


class Victim:
    """The counting program in a session of its own, perhaps under a recorder."""

    def __init__(self, bench: Bench, program: Path, before: list[str], environment: dict[str, str]) -> None:
        self.path = program
        self.counter = bench.folder / "kept.counter"
        self.counter.unlink(missing_ok=True)
        command = [*before, str(program), str(self.counter), str(bench.folder / "kept.data")]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def done(self) -> int:
        try:
            return struct.unpack("<Q", self.counter.read_bytes()[:8])[0]
        except (OSError, struct.error):
            return 0

    def program(self) -> int:
        """Its pid: one of the recorder's children, where there is a recorder."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        runs_it = (int(pid) for pid in children if Path(f"/proc/{pid}/exe").resolve() == self.path)
        return next(runs_it, self.process.pid)

    def live(self, seconds: float) -> None:
        while self.done() == 0 and self.process.poll() is None:
            time.sleep(0.001)
        time.sleep(seconds)

    def kill(self, recorder_too: bool) -> int:
        """How many calls had returned"""
        if recorder_too:
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            os.kill(self.program(), signal.SIGKILL)
        self.process.wait()
        return self.done()


def share(kept: int, done: int) -> float:
    # The call that was in flight may have been recorded and not yet counted.
    return 100.0 * min(kept, done) / done if done else 0.0


def ours(bench: Bench, program: Path, seconds: float, recorder_too: bool) -> float:
    shutil.rmtree(bench.trace, ignore_errors=True)
    victim = Victim(bench, program, [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--"], {})
    victim.live(seconds)
    done = victim.kill(recorder_too)
    return share(int(bench.sql("SELECT count(*) FROM events WHERE name = 'pwrite'")), done)


def theirs(bench: Bench, program: Path, seconds: float, version: str) -> float | None:
    log = bench.folder / "kept-dft"
    environment = dftracer.environment(version, log)
    if environment is None:
        return None
    victim = Victim(bench, program, [], environment)
    victim.live(seconds)
    done = victim.kill(True)
    kept = share(dftracer.events_of(log, "pwrite(?:64)?"), done)
    for file in bench.folder.glob("kept-dft*"):
        file.unlink()
    return kept


def row_kept(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    del rounds
    program = bench.compiled("kept")
    peers = []
    for version in dftracer.VERSIONS:
        shares = [theirs(bench, program, seconds, version) for seconds in INSTANTS]
        known = [one for one in shares if one is not None]
        peers.append(f"DFTracer {version} {min(known):.1f}-{max(known):.1f} %" if known else "")
        progress()
    rows = []
    for title, recorder_too in (("the program", False), ("program and recorder", True)):
        least = min(ours(bench, program, seconds, recorder_too) for seconds in INSTANTS)
        progress()
        what = f"events kept after SIGKILL of {title}"
        verdict = "goal" if least == 100 else "SHORT"
        peer = ", ".join(filter(None, peers))
        rows.append(Row(what, "the program's own count", f"{least:.4f} %", "", peer, "100 %", "100 %", verdict))
    return rows

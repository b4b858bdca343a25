# SPDX-License-Identifier: MIT
"""What an end-to-end test works with: a folder of its own, victims compiled when first needed, questions to Fathom."""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs import only_one
from questions import apart, together

VICTIMS = Path(__file__).resolve().parent.parent / "victims"
INCLUDE = VICTIMS.parent.parent / "include"
TIMEOUT_S = 120
IDLE_TICKS = 100  # of CPU time, a second as a rule: who uses less within TIMEOUT_S does nothing but wait
COUNT = "SELECT count(*) FROM events WHERE {}"
ALL_LOSSES = 'SELECT coalesce(sum("count"), 0) FROM losses'
# Of calls. How busy the machine is decides which stacks of layer cpu can be taken: its own tests ask for these, too.
LOSSES = f"{ALL_LOSSES} WHERE layer <> 'cpu'"

Row = tuple[Any, ...]
Process = subprocess.Popen[bytes]


class Failure(Exception):
    """What should be and is not."""


class Skipped(Exception):
    """This machine lacks what the test needs."""


def check(what: str, wanted: object, got: object) -> None:
    if wanted != got:
        raise Failure(f"{what}: wanted {wanted!r}, got {got!r}")


def check_true(what: str, condition: bool) -> None:
    if not condition:
        raise Failure(what)


@dataclass
class Emulator:
    """Victims of the other architecture, with the library of a cross build in them. They are not started by `fathom
    run`, whose exec the emulator does not follow; the recording is asked and packed by the programs of this machine."""

    command: list[str]
    prefix: str  # of the compiler's name
    library: Path


@dataclass
class Kit:
    """What all tests share."""

    build: Path
    programs: Path
    full: bool
    emulator: Emulator | None = None

    @property
    def fathom(self) -> Path:
        return self.build / "fathom"

    @property
    def library(self) -> Path:
        return self.emulator.library if self.emulator else self.build / "libfathom.so"

    def victim(self, name: str, *flags: str, compiler: str | None = None) -> Path:
        """A victim, compiled when first needed; in C, or in C++ where its file is."""
        source = VICTIMS / f"{name}.c"
        if self.emulator and compiler:
            raise Skipped(f"{compiler} of this machine compiles for no other")
        usual = ("gcc" if source.exists() else "g++") if self.emulator else "cc" if source.exists() else "c++"
        command = [compiler or (self.emulator.prefix if self.emulator else "") + usual]
        command += ["-g", "-O1", "-pthread", "-Wall", "-Wno-unused-result", f"-I{INCLUDE}", *flags]
        command.append(str(source if source.exists() else source.with_suffix(".cc")))
        return self.made("".join([name, compiler or "", *flags]).replace("/", "_"), *command)

    def made(self, name: str, *command: object) -> Path:
        """A program or library that tests share, made by the first who needs it; `-o` and its place are added."""
        target = self.programs / name
        with only_one(target):
            if not target.exists():
                part = target.with_name(f".{target.name}.part")
                subprocess.run([*map(str, command), "-o", str(part)], check=True)
                part.rename(target)
        return target

    def reason_against(self, layer: str) -> str:
        """Why this machine does not record a layer, as `fathom doctor` told the first who asked; "" where it does."""
        told = self.programs / "doctor.json"
        with only_one(told):
            if not told.exists():
                answer = subprocess.run([self.fathom, "doctor", "--format", "json"], check=True, capture_output=True)
                told.write_bytes(answer.stdout)
        row = next(row for row in json.loads(told.read_bytes())["layers"] if row["layer"] == layer)
        return "" if row["state"] == "available" else f"layer {layer}: {row['reason']}"


def cpu_ticks(session: int) -> int:
    """What the processes of a session have used of the CPU, those that were waited for included."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if entry.name.isdigit() and int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks


def processes_with(word: str) -> list[int]:
    """Those that were started with this word."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in words.split(b"\0"):
            found.append(int(place.name))
    return found


def write_run_header(spool: Path) -> None:
    """The first file of a spool (docs/formats/spool.md), with the one clock that both architectures read alike."""
    if (spool / "run.header").exists():
        return
    spool.mkdir(parents=True, exist_ok=True)
    now, boot = time.monotonic_ns(), Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    magic, version, monotonic, budget = b"FTHRUN01"[::-1], 1, 2, 1 << 30
    fields = (int.from_bytes(magic, "big"), version, monotonic, os.urandom(16), now, now, time.time_ns(), budget, 0)
    owner = (0, 0, os.getpid(), os.geteuid(), boot, os.uname().nodename.encode(), 0)
    header = struct.pack("<QII16sQQQQQ", *fields) + struct.pack("<IIII40s64sQ", *owner)
    (spool / "run.header").write_bytes(header.ljust(4096, b"\0"))


@dataclass
class Box:
    """The place of one test."""

    kit: Kit
    root: Path
    verbose: bool = False
    started: list[Process] = field(default_factory=list)
    remove: list[Path] = field(default_factory=list)  # folders beyond this one

    def __post_init__(self) -> None:
        self.dir = self.root / "work"
        self.dir.mkdir(parents=True)
        self.trace = self.root / "trace.fathom"

    def start(self, *command: object, env: dict[str, str] | None = None) -> Process:
        words = self.emulated([str(word) for word in command])
        if self.verbose:
            print("   ", " ".join(words), flush=True)
        process = subprocess.Popen(
            words,
            cwd=self.dir,
            env={**os.environ, "XDG_STATE_HOME": str(self.root / "state"), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def not_emulated(self, reason: str) -> None:
        if self.kit.emulator:
            raise Skipped(f"under an emulator: {reason}")

    def needs_layer(self, layer: str) -> None:
        """Skipped where this machine, or an emulator, cannot record it."""
        self.not_emulated("the kernel is this machine's")
        if reason := self.kit.reason_against(layer):
            raise Skipped(reason)

    def emulated(self, words: list[str]) -> list[str]:
        """The words that start a victim of the other architecture; skipped where they start something else."""
        asks = words[:1] == [str(self.kit.fathom)] and words[1:2] != ["run"]
        if self.kit.emulator is None or asks:
            return words
        if Path(words[0]).parent != self.kit.programs:
            raise Skipped(
                f"{Path(words[0]).name} is of this machine, and the emulator follows no exec into another program"
            )
        return [*self.kit.emulator.command, *words]

    def finish(self, process: Process, status: int | None = 0) -> tuple[bytes, bytes]:
        """Waits for its end. Only one that hangs fails here; the limit of the test is for one that works for ever."""
        worked = 0
        while True:
            try:
                out, err = process.communicate(timeout=TIMEOUT_S)
                break
            except subprocess.TimeoutExpired:
                before, worked = worked, cpu_ticks(process.pid)
                if worked - before < IDLE_TICKS:
                    raise Failure(f"no end, and no work, within {TIMEOUT_S} s: {process.args!r}") from None
        if status is not None and process.returncode != status:
            raise Failure(f"{process.args!r} ended with {process.returncode}, wanted {status}; stderr {err[-400:]!r}")
        return out, err

    def run(self, *command: object, status: int | None = 0, env: dict[str, str] | None = None) -> bytes:
        return self.finish(self.start(*command, env=env), status)[0]

    def record(self, *command: object, options: tuple[str, ...] = (), status: int | None = 0) -> bytes:
        if self.kit.emulator:
            return self.record_emulated(command, options, status)
        return self.run(self.kit.fathom, "run", "-q", *options, "-o", self.trace, "--", *command, status=status)

    def record_emulated(self, command: tuple[object, ...], options: tuple[str, ...], status: int | None) -> bytes:
        if options:
            raise Skipped(f"{options[0]} is an option of the recorder")
        process = self.start(*command, env=self.unsupervised())
        out, err = self.finish(process, None)
        got = process.returncode if process.returncode >= 0 else 128 - process.returncode
        if status not in (None, got):
            raise Failure(f"{process.args!r} ended with {got}, wanted {status}; stderr {err[-400:]!r}")
        return out

    def unsupervised(self) -> dict[str, str]:
        if self.kit.emulator:
            write_run_header(self.trace / "spool")
        return {"LD_PRELOAD": str(self.kit.library), "FATHOM_OUT": str(self.trace)}

    def fathom(self, *arguments: object, status: int = 0) -> bytes:
        return self.run(self.kit.fathom, *arguments, status=status)

    def rows(self, sql: str) -> list[Row]:
        answer = json.loads(self.fathom("sql", self.trace, sql, "--format", "json"))
        return [tuple(row.values()) for row in answer]

    def answers(self, *questions: str) -> list[list[Row]]:
        """The rows of each question, asked at once."""
        (told,) = json.loads(self.fathom("sql", self.trace, together(questions), "--format", "json"))
        return [[tuple(row.values()) for row in answer] for answer in apart(told)]

    def value(self, sql: str) -> Any:
        return self.rows(sql)[0][0]

    def values(self, *questions: str) -> list[Any]:
        """Answers of one value each, to questions that one process asks: opening a recording is most of the work."""
        columns = ", ".join(f"({sql}) AS q{number}" for number, sql in enumerate(questions))
        return list(self.rows(f"SELECT {columns}")[0])

    def counts(self, *conditions: str) -> list[int]:
        """As count, for many at once."""
        return [int(count) for count in self.values(*(COUNT.format(where) for where in conditions))]

    def count(self, where: str) -> int:
        return int(self.value(COUNT.format(where)))

    def losses(self) -> int:
        return int(self.value(LOSSES))

    def all_losses(self) -> int:
        return int(self.value(ALL_LOSSES))

    def lost(self, reason: str) -> int:
        """How much was lost for a reason that holds this word."""
        return int(self.value(f"SELECT coalesce(sum(\"count\"), 0) FROM losses WHERE reason LIKE '%{reason}%'"))

    def told(self, output: bytes) -> dict[str, int]:
        """What a victim printed as "key value" lines."""
        return {key: int(value) for key, value in (line.split() for line in output.decode().splitlines())}

    def info(self) -> Any:
        return json.loads(self.fathom("info", self.trace, "--format", "json"))

    def wait_for(self, what: str, ready: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise Failure(f"no {what} within {seconds} s")
            time.sleep(0.02)

    def close(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for place in self.remove:
            shutil.rmtree(place, ignore_errors=True)

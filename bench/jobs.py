# SPDX-License-Identifier: MIT
"""The programs that the bench runs: the cost loop bare, under Fathom and under peers."""

import os
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import dftracer

HERE = Path(__file__).resolve().parent
TOP = HERE.parent


@dataclass
class Bench:
    build: Path
    folder: Path
    scale: float
    made: dict[str, int] = field(default_factory=dict)

    @cached_property
    def cost(self) -> Path:
        return self.compiled("cost")

    def compiled(self, name: str) -> Path:
        """bench/NAME.c as a program"""
        program, source = self.folder / name, HERE / f"{name}.c"
        command = ["cc", "-O2", "-pthread", f"-I{TOP / 'include'}", "-o", str(program), str(source)]
        subprocess.run(command, check=True)
        return program

    def turns(self, number: int) -> str:
        return str(max(1000, int(number * self.scale)))

    def run(self, command: list[str], env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def bare(self, what: str, turns: int, threads: int) -> float:
        """ns of thread CPU for one turn"""
        return float(self.run([str(self.cost), what, self.turns(turns), str(threads)]))

    def under_fathom(self, *arguments: str, options: tuple[str, ...] = ()) -> str:
        """The cost program, recorded; its output"""
        shutil.rmtree(self.trace, ignore_errors=True)
        recorder = [str(self.build / "fathom"), "run", "-q", *options, "-o", str(self.trace), "--"]
        return self.run([*recorder, str(self.cost), *arguments])

    def unpacked(self, *arguments: str) -> None:
        """The cost program, recorded with nobody beside it: all stays in the spool"""
        shutil.rmtree(self.trace, ignore_errors=True)
        environment = {"LD_PRELOAD": str(self.build / "libfathom.so"), "FATHOM_OUT": str(self.trace)}
        self.run([str(self.cost), *arguments], environment)

    def cpu_seconds(self, command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def recorded(self, what: str, turns: int, threads: int) -> float:
        return float(self.under_fathom(what, self.turns(turns), str(threads)))

    @property
    def trace(self) -> Path:
        return self.folder / "trace.fathom"

    def sql(self, query: str) -> str:
        return self.run([str(self.build / "fathom"), "sql", str(self.trace), query, "--format", "csv"]).splitlines()[-1]

    def seconds(self, command: list[str]) -> float:
        begin = time.monotonic()
        self.run(command)
        return time.monotonic() - begin

    # --- peers: None where one cannot be had here

    def strace(self, what: str, turns: int, threads: int) -> float | None:
        if shutil.which("strace") is None:
            return None
        command = [
            "strace",
            "-f",
            "-o",
            "/dev/null",
            "-e",
            f"trace={what}64",
            str(self.cost),
            what,
            self.turns(turns),
            str(threads),
        ]
        return float(self.run(command))

    @cached_property
    def lttng_program(self) -> Path | None:
        """LTTng's region, where lttng-tools and liblttng-ust-dev are installed."""
        program = self.folder / "lttng_region"
        source = HERE / "peers" / "lttng_region.c"
        command = [
            "cc",
            "-O2",
            "-pthread",
            f"-I{source.parent}",
            "-o",
            str(program),
            str(source),
            "-llttng-ust",
            "-ldl",
        ]
        if shutil.which("lttng") is None or subprocess.run(command, capture_output=True).returncode != 0:
            return None
        return program

    def under_lttng(self, turns: int, threads: int) -> float | None:
        if self.lttng_program is None:
            return None
        session, output = f"fathom-bench-{os.getpid()}", self.folder / "lttng"
        try:
            self.run(["lttng", "create", session, f"--output={output}"])
            self.run(["lttng", "enable-channel", "-u", "-s", session, "--subbuf-size=4M", "--num-subbuf=8", "c"])
            self.run(["lttng", "enable-event", "-u", "-s", session, "-c", "c", "fathom_bench:*"])
            self.run(["lttng", "start", session])
            return float(self.run([str(self.lttng_program), self.turns(turns), str(threads)]))
        except subprocess.CalledProcessError:
            return None
        finally:
            subprocess.run(["lttng", "destroy", session], capture_output=True)
            shutil.rmtree(output, ignore_errors=True)

    def under_dftracer(self, version: str, what: str, turns: int, threads: int) -> float | None:
        environment = dftracer.environment(version, self.folder / "dft")
        if environment is None:
            return None
        try:
            answer = self.run([str(self.cost), what, self.turns(turns), str(threads)], environment)
        except subprocess.CalledProcessError:
            return None
        for file in self.folder.glob("dft*"):
            file.unlink()
        return float(answer.splitlines()[0])

# SPDX-License-Identifier: MIT
"""Counter updates a second in stores of jobs, against profiling-framework's scheme and bare Redis; memory by node.

Rates are by CPU seconds of all who take part (this client, and redis-server where there is one): what one core does.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jobs import Bench
from row import Row, Sample, Samples

UPDATES = 2_000_000
JOBS = 1000
NODES = 1_000_000
GOAL = 1e6  # updates a second
HOST = "127.0.0.1"


@dataclass
class Redis:
    """A redis-server on loopback that syncs its file before it answers."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, *words: str) -> bytes:
        with socket.create_connection((HOST, self.port), 60) as link:
            link.sendall(" ".join(words).encode() + b"\r\n")
            return link.recv(1 << 16)

    def memory(self) -> int:
        text = self.ask("INFO", "memory").decode()
        return int(text.split("used_memory:")[1].split()[0])


def free_port() -> int:
    with socket.socket() as probe:
        while True:
            port = random.randrange(20_000, 32_000)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port


@contextmanager
def redis(bench: Bench) -> Iterator[Redis]:
    place = bench.folder / "redis"
    place.mkdir()
    port = free_port()
    options = ["--bind", HOST, "--port", str(port), "--dir", str(place), "--save", "", "--logfile", str(place / "log")]
    process = subprocess.Popen(["redis-server", *options, "--appendonly", "yes", "--appendfsync", "always"])
    server = Redis(process, port)
    try:
        while True:
            try:
                if server.ask("PING").startswith(b"+PONG"):
                    break
            except OSError:
                time.sleep(0.05)
        yield server
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(place)


def program(bench: Bench) -> str:
    return str(bench.build / "bench" / "job_stores")


def is_built(bench: Bench) -> bool:
    build = ["cmake", "--build", str(bench.build), "--target", "job_stores"]
    return subprocess.run(build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def sqlite_run(bench: Bench, *words: str) -> tuple[float, float, float]:
    """CPU seconds, memory, and bytes of the file."""
    place = bench.folder / "sqlite"
    place.mkdir()
    try:
        cpu, _, memory = bench.run([program(bench), f"sqlite:{place / 'jobs.db'}", *words]).split()
        return float(cpu), float(memory), float((place / "jobs.db").stat().st_size)
    finally:
        shutil.rmtree(place)


def redis_rate(bench: Bench, what: str, updates: str) -> float:
    with redis(bench) as server:
        before = server.cpu()
        cpu = float(bench.run([program(bench), server.url, what, updates]).split()[0])
        return int(updates) / (cpu + server.cpu() - before)


def sample(bench: Bench) -> Sample:
    updates = bench.turns(UPDATES)
    one: Sample = {"sqlite": int(updates) / sqlite_run(bench, "batches", updates)[0]}
    if shutil.which("redis-server"):
        one["redis"] = redis_rate(bench, "batches", updates)
        one["hincrby"] = redis_rate(bench, "hincrby", updates)
        one["rmw"] = redis_rate(bench, "rmw", str(max(1000, int(updates) // 100)))
    return one


def text_of(rate: float | None) -> str:
    return f"{rate / 1e6:.3g} M/s" if rate is not None else "no redis-server here"


def rate_row(what: str, samples: Samples, key: str) -> Row:
    """SQLite is judged by the goal; a store on Redis by what Redis does with the same updates, loose and uncounted."""
    rate = samples.median(key)
    by_framework = samples.ratio(lambda one: one[key], "rmw", "rmw")
    by_floor = samples.ratio(lambda one: one[key], "hincrby", "hincrby") if key == "redis" else None
    goals = ("", "1 M/s") if key == "sqlite" else ("0.5 x HINCRBY", "1 x HINCRBY")
    if rate is None:
        verdict = "not measured"
    elif by_floor is None:
        verdict = "goal" if rate >= GOAL else "SHORT"
    else:
        verdict = "goal" if by_floor >= 1 else "good enough" if by_floor >= 0.5 else "SHORT"
    times = f"{by_framework:.0f} x the framework" if by_framework is not None else ""
    floor = f"pipelined HINCRBY {text_of(samples.median('hincrby'))}"
    peer = f"framework's HGET, HSET {text_of(samples.median('rmw'))}"
    return Row(what, floor, text_of(rate), times, peer, *goals, verdict)


def row_updates(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Batches of 5000 updates of 10000 counters, each batch on disk before the next."""
    if not is_built(bench):
        return [Row("counter updates of a core", "", "built without fleet", verdict="not measured")]
    done = []
    for _ in range(rounds):
        done.append(sample(bench))
        progress()
    samples = Samples(done)
    return [
        rate_row("counter updates of a core, SQLite", samples, "sqlite"),
        rate_row("counter updates of a core, Redis", samples, "redis"),
    ]


def row_nodes(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """A million nodes in a thousand jobs: what the process that adds them has in memory, and the store on disk."""
    del rounds
    if not is_built(bench):
        return [Row("memory with many nodes", "", "built without fleet", verdict="not measured")]
    jobs, nodes = str(max(10, int(JOBS * bench.scale))), bench.turns(NODES)
    empty = sqlite_run(bench, "fill", "1", "1")[1]
    _, memory, size = sqlite_run(bench, "fill", jobs, nodes)
    progress()
    what = f"memory with {int(nodes) // 1000} k nodes in {jobs} jobs"
    value = f"{memory / 2**20:.0f} MiB, file {size / int(nodes):.0f} B a node"
    rows = [Row(f"{what}, SQLite", f"empty {empty / 2**20:.0f} MiB", value)]
    if not shutil.which("redis-server"):
        return rows
    with redis(bench) as server:
        before = server.memory()
        bench.run([program(bench), server.url, "fill", jobs, nodes])
        value = f"{(server.memory() - before) / int(nodes):.0f} B a node in redis-server"
        rows.append(Row(f"{what}, Redis", "", value))
    progress()
    return rows

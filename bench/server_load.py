# SPDX-License-Identifier: MIT
"""A server under load: how long a small POST takes beside 500 clients, and what a million nodes take in memory."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jobs import Bench
from row import Row

CLIENTS = 500
POSTS = 20
PAUSE_MS = 1000  # between two posts of a client: what is measured is the answer, not the rate
JOBS = 1000
NODES = 1_000_000
HOST = "127.0.0.1"


@dataclass
class Server:
    process: subprocess.Popen[str]
    port: int
    token: str

    def memory(self) -> tuple[int, int]:
        """Bytes now, and the most that it had."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = {
            line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))
        }
        return found["VmRSS"], found["VmHWM"]

    def post(self, link: http.client.HTTPConnection, path: str, body: object) -> None:
        link.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {self.token}"})
        answer = link.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{path}: {answer.status} {text[:200]!r}")


@contextmanager
def serving(bench: Bench) -> Iterator[Server]:
    place = bench.folder / "server"
    home = bench.folder / "home"
    home.mkdir(exist_ok=True)
    words = [str(bench.build / "fathom"), "server", "--listen", f"{HOST}:0", "--data", str(place)]
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        yield Server(process, port, (place / "admin.token").read_text().strip())
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(place, ignore_errors=True)


def has_server(bench: Bench) -> bool:
    words = [str(bench.build / "fathom"), "server", "--help"]
    return "not in this build" not in subprocess.run(words, capture_output=True, text=True).stdout


def row_posts(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """A batch of one row, durable before it is answered."""
    if not has_server(bench):
        return [Row("p99 of a small POST", "", "built without fleet", verdict="not measured")]
    program = str(bench.compiled("posts"))
    posts = str(max(3, int(POSTS * bench.scale)))
    alone, beside = [], []
    for _ in range(rounds):
        with serving(bench) as server:
            server.post(http.client.HTTPConnection(HOST, server.port), "/api/v1/jobs", {"name": "bench"})
            front = [program, str(server.port), server.token, "bench"]
            alone.append([float(word) for word in bench.run([*front, "1", "100", "10"]).split()])
            beside.append([float(word) for word in bench.run([*front, str(CLIENTS), posts, str(PAUSE_MS)]).split()])
        progress()
    median, p99, longest, rate, refused = sorted(beside, key=lambda one: one[1])[len(beside) // 2]
    floor = f"1 client: {min(one[0] for one in alone):.2f} ms"
    value = f"{p99:.1f} ms (median {median:.1f}, longest {longest:.1f})"
    verdict = "SHORT" if refused else ""
    return [Row(f"p99 of a small POST, {CLIENTS} clients, {rate:.0f} a second", floor, value, verdict=verdict)]


def row_server_memory(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """A million nodes in a thousand jobs, posted to a server."""
    del rounds
    if not has_server(bench):
        return [Row("memory of a server", "", "built without fleet", verdict="not measured")]
    jobs, nodes = max(10, int(JOBS * bench.scale)), int(NODES * bench.scale)
    with serving(bench) as server:
        link = http.client.HTTPConnection(HOST, server.port)
        empty, _ = server.memory()
        each = nodes // jobs
        for job in range(jobs):
            server.post(link, "/api/v1/jobs", {"name": f"job-{job}"})
            rows = [
                {
                    "node": f"std::vector<int>::function_{job}_{number}(int)",
                    "exec": "a.out",
                    "event": "cycles",
                    "count": 1,
                }
                for number in range(each)
            ]
            server.post(link, f"/api/v1/jobs/job-{job}/profile", {"client": "bench", "seq": 1, "rows": rows})
        now, most = server.memory()
        progress()
    value = f"{now / 2**20:.0f} MiB, at most {most / 2**20:.0f} MiB"
    return [
        Row(
            f"memory of a server, {each * jobs // 1000} k nodes in {jobs} jobs", f"empty {empty / 2**20:.0f} MiB", value
        )
    ]

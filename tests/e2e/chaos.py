# SPDX-License-Identifier: MIT
"""A server, its store and its agents, killed and cut off at random, for test_chaos.py.

usage: chaos.py CONFIG    (JSON: fathom, folder, store, rounds, seed, cuts; cuts: this network namespace is ours)

Prints a JSON object with what went wrong, and what was done. Two kinds of clients send all the time: some by HTTP,
which send a batch again until it is acknowledged, and agents, which are started for a few rows each. What was
acknowledged, or kept by an agent that ended well, has to be there once; what an agent had that was killed, once or not
at all.
"""

import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
ROWS = 3  # of each agent


class World:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config, self.dice = config, random.Random(config["seed"])
        self.folder = Path(config["folder"])
        self.data, home = self.folder / "data", self.folder / "home"
        home.mkdir()
        port = config["port"]
        self.port, self.redis_port = port, port + 1
        self.env = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": "", "XDG_DATA_HOME": ""}
        self.env["FATHOM_SERVER"] = f"http://{HOST}:{port}"
        self.problems: list[str] = []
        self.done = dict.fromkeys(("server", "redis", "agent", "cut"), 0)
        self.agents: list[tuple[str, subprocess.Popen[bytes], bool]] = []
        self.redis: subprocess.Popen[bytes] | None = None
        self.stopping = threading.Event()
        self.start()
        self.token = (self.data / "admin.token").read_text().strip()
        self.env["FATHOM_TOKEN"] = self.token

    def start_redis(self) -> None:
        place = self.folder / "redis"
        place.mkdir(exist_ok=True)
        options = ["--bind", HOST, "--port", str(self.redis_port), "--dir", str(place), "--save", ""]
        self.redis = subprocess.Popen(
            ["redis-server", *options, "--appendonly", "yes", "--appendfsync", "always"], stdout=subprocess.DEVNULL
        )

    def start(self) -> None:
        """Redis first, then the server, which wants to see it."""
        words = [self.config["fathom"], "server", "--listen", f"{HOST}:{self.port}", "--data", str(self.data)]
        if self.config["store"] == "redis":
            if self.redis is None or self.redis.poll() is not None:
                self.start_redis()
            words += ["--store", f"redis://{HOST}:{self.redis_port}/0"]
        for _ in range(200):
            self.server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.env)
            assert self.server.stdout is not None
            if self.server.stdout.readline().startswith(b"ready"):
                return
            self.server.wait()
            time.sleep(0.1)
        raise RuntimeError("the server does not start")

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        with contextlib.closing(http.client.HTTPConnection(HOST, self.port, timeout=5)) as link:
            headers = {"Authorization": f"Bearer {self.token}"}
            link.request(method, path, None if body is None else json.dumps(body), headers)
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())

    def insist(self, method: str, path: str, body: Any = None) -> Any:
        """Until it is answered."""
        for _ in range(3000):
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                status, answer = self.call(method, path, body)
                if status in (200, 201):
                    return answer
                if status not in (429, 503, 500):
                    self.problems.append(f"{method} {path}: {status} {answer}")
                    return None
            time.sleep(0.02)
        self.problems.append(f"{method} {path}: never answered")
        return None

    def send_all(self, client: str, sent: list[int]) -> None:
        """Batches and records, each until it is acknowledged."""
        while not self.stopping.is_set():
            number = sent[0] + 1
            rows = [{"node": "turn", "exec": "a", "event": "e", "count": 1}]
            self.insist("POST", "/api/v1/jobs/job/profile", {"client": client, "seq": 2 * number, "rows": rows})
            record = {"command": [client, str(number)], "runs": []}
            batch = {"client": client, "seq": 2 * number + 1, "records": [record]}
            self.insist("POST", "/api/v1/jobs/job/benchmarks", batch)
            sent[0] = number

    def start_agent(self) -> None:
        node = f"agent-{len(self.agents)}"
        words = [self.config["fathom"], "agent", "profile", "-q", "--job", "job", "--stdin"]
        agent = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.env)
        assert agent.stdin is not None
        with contextlib.suppress(OSError):
            for _ in range(ROWS):
                line = json.dumps({"node": node, "exec": "a", "event": "e", "count": 1}) + "\n"
                agent.stdin.write(line.encode())
            agent.stdin.close()
        self.agents.append((node, agent, False))

    def kill_agent(self) -> None:
        living = [i for i, (_, agent, _) in enumerate(self.agents) if agent.poll() is None]
        if living:
            i = self.dice.choice(living)
            node, agent, _ = self.agents[i]
            agent.send_signal(signal.SIGKILL)
            self.agents[i] = (node, agent, True)
            self.done["agent"] += 1

    def kill_server(self) -> None:
        self.server.kill()
        self.server.wait()
        time.sleep(self.dice.random() * 0.1)
        self.start()
        self.done["server"] += 1

    def kill_redis(self) -> None:
        if self.redis is None:
            return
        self.redis.kill()
        self.redis.wait()
        time.sleep(self.dice.random() * 0.1)
        self.start_redis()
        self.done["redis"] += 1

    def cut(self) -> None:
        if not self.config["cuts"]:
            return
        subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
        time.sleep(self.dice.random() * 0.5)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.done["cut"] += 1

    def round(self) -> None:
        for _ in range(2):
            self.start_agent()
        time.sleep(self.dice.random() * 0.15)
        self.dice.choice([self.kill_agent, self.kill_server, self.kill_redis, self.cut])()

    def settle(self) -> None:
        """All are there again, and what waits is sent."""
        if self.server.poll() is not None:
            self.start()
        for _, agent, _ in self.agents:
            agent.wait()
        for _ in range(100):
            words = [self.config["fathom"], "agent", "flush", "-q"]
            if subprocess.run(words, env=self.env, stderr=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.1)
        self.problems.append("the outbox was never empty")

    def judge(self, sent: dict[str, list[int]]) -> None:
        rows = self.insist("GET", "/api/v1/jobs/job/profile")["rows"]
        counts = {row["node"]: row["count"] for row in rows}
        wanted = sum(number[0] for number in sent.values())
        if counts.get("turn", 0) != wanted:
            self.problems.append(f"{counts.get('turn', 0)} instead of {wanted} batches count")
        for node, agent, killed in self.agents:
            good = (0, ROWS) if killed or agent.returncode != 0 else (ROWS,)
            if counts.get(node, 0) not in good:
                self.problems.append(f"{node} ({agent.returncode}): {counts.get(node, 0)} instead of {good}")
        records = [tuple(one["command"]) for one in self.insist("GET", "/api/v1/jobs/job/benchmarks")["records"]]
        expected = {(client, str(n + 1)) for client, number in sent.items() for n in range(number[0])}
        if len(records) != len(set(records)) or set(records) != expected:
            self.problems.append(f"{len(records)} records, {len(set(records))} different, of {len(expected)}")

    def run(self) -> None:
        self.insist("POST", "/api/v1/jobs", {"name": "job"})
        sent = {f"client-{n}": [0] for n in range(3)}
        clients = [threading.Thread(target=self.send_all, args=pair) for pair in sent.items()]
        for client in clients:
            client.start()
        for _ in range(self.config["rounds"]):
            self.round()
        self.stopping.set()
        for client in clients:
            client.join()
        self.settle()
        self.judge(sent)
        self.done["batches"] = 2 * sum(number[0] for number in sent.values())
        self.done["agents"] = len(self.agents)

    def close(self) -> None:
        for process in (self.server, self.redis, *(agent for _, agent, _ in self.agents)):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def main() -> int:
    config = json.loads(sys.argv[1])
    if config["cuts"]:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    world = World(config)
    try:
        world.run()
    finally:
        world.close()
    print(json.dumps({"problems": world.problems[:20], "done": world.done}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""profiling-framework's users: its programs, words, files and classes, on a server of ours."""

import json
import os
import subprocess
import sys

from kit import Box, Failure, Process, check, check_true
from test_agent import TREE, laps
from test_jobs import free_port, home

PERF = """\
laps  2091  4087.560435:    5000000 cpu-clock:u:      564dbb6ea1db lap+0x3b (/opt/a b/laps)
       my worker  2091/2093 [001]  4087.6:  250000 cpu-clock:k:  ffffffff821cb4d5 schedule+0x1 ([kernel.kallsyms])
laps  2091 [000]  4087.7:  10 cache-misses:u:  2d0 work<std::vector<int> >::operator()(int) const+0x30 (/opt/laps)
"""
SUMS = {
    ("lap", "laps", "cpu-clock:u"): 5_000_000,
    ("schedule", "[kernel.kallsyms]", "cpu-clock:k"): 250_000,
    ("work<std::vector<int> >::operator()(int) const", "laps", "cache-misses:u"): 10,
}
CLIENT = """
import json, sys
from client.profclient import ProfClient

class CustomClient(ProfClient):
    def __init__(self, bindaddr, port, jobID, report):
        super(CustomClient, self).__init__(bindaddr, port)
        self.jobID = jobID
        self.report = report

    def messages(self):
        cmdlist = list()
        for line in open(self.report, "r"):
            cmdlist.append({"command": self.SEND_PERF_DATA, "message": line, "port": self.jobID})
        record = json.dumps({"cache-misses:u": "12,345", "time": "1.25"})
        cmdlist.append({"command": self.SEND_BENCHMARK_DATA, "message": record, "port": self.jobID})
        return cmdlist

class WithSocket(CustomClient):
    def run_on_job(self, sock):
        self.send_data(sock, self.messages())

class WithList(CustomClient):
    def run_on_job(self):
        return self.messages()

kind = {"socket": WithSocket, "list": WithList}[sys.argv[4]]
kind("localhost", int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]).run()
print("sent")
"""


def environment(box: Box) -> dict[str, str]:
    runtime = box.root / "runtime"
    runtime.mkdir(exist_ok=True, mode=0o700)
    return {**home(box), "XDG_RUNTIME_DIR": str(runtime), "FATHOM_BUILD": str(box.kit.build)}


def server(box: Box) -> tuple[Process, int]:
    """Its server, in the directory of the test, when it can be asked."""
    port = free_port()
    process = box.start(box.kit.build / "profiling-server", "--bind", "localhost", "--port", port, env=environment(box))
    line = process.stdout.readline() if process.stdout else b""
    if line != f"ready http://127.0.0.1:{port}\n".encode():
        raise Failure(f"the server is not ready: {line!r}, {process.stderr.read() if process.stderr else b''!r}")
    return process, port


def program(box: Box, name: str, port: int, *words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [str(word) for word in (box.kit.build / name, "--bind", "localhost", "--port", port, *words)]
    env = {**os.environ, **environment(box)}
    return subprocess.run(command, input=stdin, env=env, cwd=box.dir, capture_output=True, timeout=120, check=False)


def controlled(box: Box, port: int, command: str, *words: object, stdin: bytes = b"") -> str:
    done = program(box, "profiling-controller", port, *words, "--cmd", command, stdin=stdin)
    check(f"status of {command} (stderr {done.stderr!r})", 0, done.returncode)
    return done.stdout.decode()


def dump(box: Box, port: int, what: str) -> list[dict[str, object]]:
    controlled(box, port, f"SHOW_JOB_{what}", "--jobid", 2001, "--file", "out")
    return [dict(json.loads(line)) for line in (box.dir / "out").read_text().splitlines()]


def profile_json(box: Box, port: int) -> bytes:
    command = [
        str(box.kit.fathom),
        "job",
        "show",
        "2001",
        "--profile",
        "--format",
        "json",
        "--server",
        f"http://127.0.0.1:{port}",
    ]
    done = subprocess.run(command, env={**os.environ, **environment(box)}, capture_output=True, timeout=120, check=True)
    return done.stdout


def test_controller_and_clients(box: Box) -> None:
    """CREATE to REMOVE, its layout of LIST, its clients and dumps; its data lies where it was started."""
    process, port = server(box)
    layout = "JOBID: {}\t Info: {}\t Number of benchmark data: {}\n"
    for job, info in ((2010, "second"), (2001, "first job")):
        controlled(box, port, "CREATE", "--jobid", job, "--info", info)
    check("LIST", layout.format(2001, "first job", 0) + layout.format(2010, "second", 0), controlled(box, port, "LIST"))
    check_true(
        "a number in use",
        program(box, "profiling-controller", port, "--jobid", 2001, "--cmd", "CREATE", "--info", "x").returncode != 0,
    )
    check_true("SHOW_JOB_INFO", "second" in controlled(box, port, "SHOW_JOB_INFO", "--jobid", 2010))
    check_true(
        "No",
        program(box, "profiling-controller", port, "--jobid", 2010, "--cmd", "REMOVE", stdin=b"No\n").returncode != 0,
    )
    controlled(box, port, "REMOVE", "--jobid", 2010, stdin=b"Yes\n")
    check(
        "profiling-client", 0, program(box, "profiling-client", port, "--jobid", 2001, "--", laps(box), 200).returncode
    )
    check_true("lap", any(line.get("lap", {}) for line in dump(box, port, "PROFILING")))
    (box.dir / "log").write_text(f"cd {box.dir} && {laps(box)} 5\n" * 2)
    check("benchmark-client", 0, program(box, "benchmark-client", port, "--jobid", 2001, "--log", "log").returncode)
    check_true(
        "Exectime", [float(str(line["Exectime"])) > 0.004 for line in dump(box, port, "BENCHMARK")] == [True, True]
    )
    check("LIST", layout.format(2001, "first job", 2), controlled(box, port, "LIST"))
    controlled(box, port, "CLEAR_JOB_BENCHMARK", "--jobid", 2001)
    check("LIST", layout.format(2001, "first job", 0), controlled(box, port, "LIST"))
    ghost = program(box, "benchmark-client", port, "--jobid", 2999, "--", laps(box), 0)
    check_true(f"no such job: {ghost.stderr!r}", ghost.returncode == 3 and b"job create 2999" in ghost.stderr)
    process.terminate()
    box.finish(process, 0)
    check_true("its data", (box.dir / "profiling-data").is_dir())


def test_custom_clients(box: Box) -> None:
    """Classes derived from ProfClient run unedited, with a socket and with a list; what is not stored is an error."""
    _, port = server(box)
    controlled(box, port, "CREATE", "--jobid", 2001, "--info", "x")
    (box.dir / "perf.log").write_text(PERF)
    (box.dir / "custom.py").write_text(CLIENT)

    def run(to: int, job: int, how: str) -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, **environment(box), "PYTHONPATH": str(TREE / "python")}
        command = [sys.executable, "-B", "custom.py", str(to), str(job), "perf.log", how]
        return subprocess.run(command, env=env, cwd=box.dir, capture_output=True, timeout=120, check=False)

    for how in ("socket", "list"):
        done = run(port, 2001, how)
        check(f"{how}: stdout (stderr {done.stderr[-300:]!r})", b"sent\n", done.stdout)
    rows = json.loads(profile_json(box, port))
    got = {(row["node"], row["exec"], row["event"]): row["count"] for row in rows}
    check("sums", {key: 2 * count for key, count in SUMS.items()}, got)
    check("benchmarks", [{"Exectime": "1.25", "cache-misses:u": "12345"}] * 2, dump(box, port, "BENCHMARK"))
    for to, job in ((port, 2999), (free_port(), 2001)):
        done = run(to, job, "socket")
        check_true(f"an error: {done!r}", done.returncode != 0 and done.stdout == b"" and done.stderr != b"")

# SPDX-License-Identifier: MIT
"""fathom suite: works of this machine, of a real Slurm, of an engine's command line and of a stand-in for Jenkins."""

import contextlib
import json
import os
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docker_engine import engine
from jenkins_server import PASSWORD, TOKEN, USER, Jenkins
from jobs import alone
from kit import Box, Failure, Process, check, check_true
from slurm_cluster import Cluster, programs_of_node


def start(box: Box, spec: str, *options: object, env: dict[str, str] | None = None) -> Process:
    (box.dir / "suite.yaml").write_text(spec)
    return box.start(
        "/usr/bin/env",
        "--default-signal=INT",
        box.kit.fathom,
        "suite",
        "run",
        "suite.yaml",
        "--format",
        "json",
        *options,
        env=env,
    )


def told(box: Box, spec: str, *options: object, status: int = 0, env: dict[str, str] | None = None) -> Any:
    """The merged result of a suite."""
    return json.loads(box.finish(start(box, spec, "-o", "out", *options, env=env), status)[0])


def statuses(result: Any) -> list[tuple[str, str, int]]:
    return [(item["benchmark"], item["status"], item["attempts"]) for item in result["items"]]


def log_of(box: Box, item: int, attempt: int = 1) -> str:
    return (box.dir / "out" / str(item) / str(attempt) / "log").read_text()


def running(words: str) -> list[int]:
    """Processes with these words in their command line, zombies left out."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and words.encode() in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(entry.name))
    return [pid for pid in found if pid != os.getpid()]


MATRIX = """
at_once: 2
benchmarks:
- {name: prepare, command: 'echo ready > ready.txt'}
- name: solve
  command: 'cat ready.txt; echo {size} {mode}; echo "$FATHOM_WORK_ID $GREETING"'
  after: prepare
  repetitions: 2
  matrix: {size: [1, 2], mode: [a b, it's]}
  environment: {GREETING: hello there}
- {name: bad, command: [sh, -c, exit 3]}
- {name: none, command: [./not-here]}
- {name: slow, command: [sleep, '1002'], timeout: 1s}
"""


def test_suite_of_local_processes(box: Box) -> None:
    result = told(box, MATRIX, status=1)
    check(
        "runs, ended, failed, lost", (12, 12, 3, 0), tuple(result[key] for key in ("runs", "ended", "failed", "lost"))
    )
    got = statuses(result)
    check(
        "statuses",
        {"prepare": "ok", "solve": "ok", "bad": "failed", "none": "failed", "slow": "timed out"},
        {b: s for b, s, _ in got},
    )
    check("attempts", {1}, {attempts for _, _, attempts in got})
    items = {item["benchmark"]: item for item in result["items"]}
    check("exit statuses", (3, 127), (items["bad"]["exit"], items["none"]["exit"]))
    check("parameters of the last", {"size": "2", "mode": "it's"}, items["solve"]["parameters"])
    check("its log", f"ready\n2 it's\n{result['run']}.8 hello there\n", log_of(box, 8))
    check_true("it had its time", items["slow"]["wall"] > 0.9)  # the limit of 1 s begins before the program does
    check("nobody is left", [], running("sleep 1002"))
    table = box.finish(box.start(box.kit.fathom, "suite", "run", "suite.yaml", "-o", "again"), 1)
    check_true("a line for each parameter", b"size=2 mode=it's" in table[0] and b"bad: exit status 3" in table[1])


def test_suite_tells_what_is_wrong(box: Box) -> None:
    process = start(box, "benchmarks:\n- command: [true]\n  colour: red\n")
    err = box.finish(process, 3)[1].decode()
    check_true(err, err.startswith("fathom: suite.yaml:3:3: unknown key 'colour'"))
    check_true("nothing was made", not list(box.dir.glob("fathom-suite-*")))
    box.fathom("suite", "run", "nowhere.yaml", status=3)
    box.fathom("suite", "walk", "suite.yaml", status=2)
    told(box, "benchmarks: [{command: ['true']}]")
    box.finish(start(box, "benchmarks: [{command: ['true']}]", "-o", "out"), 3)  # is there already


KILLED = """
benchmarks:
- name: killed
  command: 'echo $$ >> begun; if [ ! -f once ]; then touch once; kill -9 $PPID; sleep 1003; fi; echo done'
"""


def test_suite_does_lost_work_again_once(box: Box) -> None:
    """The worker is killed at the first attempt, and then at both."""
    result = told(box, KILLED)
    check("statuses", [("killed", "ok", 2)], statuses(result))
    check("redone, lost", (1, 0), (result["redone"], result["lost"]))
    check("begun", 2, len((box.dir / "begun").read_text().split()))
    check("nobody is left of the first", [], running("sleep 1003"))
    shutil.rmtree(box.dir / "out")
    result = told(box, "benchmarks: [{name: always, command: 'kill -9 $PPID; sleep 1003'}]", status=3)
    check("given up", [("always", "lost", 2)], statuses(result))


LONG = "at_once: 2\nbenchmarks: [{command: [sleep, '1000.25'], repetitions: 5}]"


def test_suite_is_cancelled(box: Box) -> None:
    """By Ctrl-C, with a result; and by SIGKILL, without a word: nobody is left."""
    process = start(box, LONG, "-o", "out")
    box.wait_for("works", lambda: len(running("sleep 1000.25")) == 2)
    process.send_signal(signal.SIGINT)
    result = json.loads(box.finish(process, 130)[0])
    check("cancelled, ended", (True, 0), (result["cancelled"], result["ended"]))
    check("nobody is left", [], running("sleep 1000.25"))
    process = start(box, LONG, "-o", "again")
    box.wait_for("works", lambda: len(running("sleep 1000.25")) == 2)
    process.send_signal(signal.SIGKILL)
    box.wait_for("end of all works", lambda: not running("sleep 1000.25"))


def agents(box: Box) -> dict[str, str]:
    """A store of this test alone."""
    return {"HOME": str(box.root), "XDG_RUNTIME_DIR": str(box.root), "FATHOM_SERVER": f"sqlite:{box.root}/jobs.db"}


def records(box: Box, job: str) -> list[Any]:
    out = box.run(box.kit.fathom, "job", "show", job, "--benchmarks", "--format", "json", env=agents(box))
    return list(json.loads(out))


def test_suite_measures_for_a_job(box: Box) -> None:
    """Each work is a record with its repetitions; the same work sent twice counts once."""
    box.run(box.kit.fathom, "job", "create", "nightly", env=agents(box))
    spec = (
        "job: nightly\nrepetitions: 3\nmatrix: {n: [1, 2]}\nbenchmarks: [{name: t, command: [sh, -c, 'exit 0', '{n}']}]"
    )
    result = told(box, spec, env=agents(box))
    check("ended", (2, 0), (result["ended"], result["failed"]))
    got = sorted((record["command"][-1], len(record["runs"])) for record in records(box, "nightly"))
    check("commands and runs", [("1", 3), ("2", 3)], got)
    for _ in range(2):
        env = {**agents(box), "FATHOM_WORK_ID": "lost-and-found"}
        box.run(box.kit.fathom, "agent", "bench", "--job", "nightly", "--", "true", env=env)
    check("records", 3, len(records(box, "nightly")))


@contextlib.contextmanager
def cluster(nodes: int) -> Iterator[Cluster]:
    made = Cluster(nodes)
    try:
        yield made
    finally:
        made.close()


SLURM = """
executor: slurm
at_once: 4
slurm: {lease: 5s}
benchmarks:
- {name: solve, command: 'echo $SLURMD_NODENAME; exit {status}', matrix: {status: [0, 7]}, repetitions: 2}
- name: stays
  command: 'echo $SLURMD_NODENAME >> began.{n}; while [ ! -f go ]; do sleep 0.1; done; echo {n} > ended.{n}'
  matrix: {n: [0, 1, 2, 3]}
- {name: merge, command: 'cat ended.*', after: [solve, stays]}
"""


@alone("a Slurm with its daemons, and a lease that a busy machine would break")
def test_suite_by_slurm(box: Box) -> None:
    """A node is lost while it works: its work is done again elsewhere, once, and what depends on it waits for that."""
    box.not_emulated("Slurm of this machine")
    with cluster(3) as slurm:
        process = start(box, SLURM, "-o", "out", env=slurm.env)
        began = lambda: [path.read_text().split() for path in sorted(box.dir.glob("began.*"))]  # noqa: E731
        box.wait_for("works", lambda: len(began()) == 4, 120)
        (victim, *_) = began()[0]
        lost = sum(nodes == [victim] for nodes in began())
        check_true("they run there", len(programs_of_node(victim)) > 0)
        slurm.kill_node(victim)
        box.wait_for("second attempts", lambda: sum(map(len, began())) == 4 + lost, 120)
        (box.dir / "go").touch()
        result = json.loads(box.finish(process, 1)[0])
    check(
        "ended, lost, failed, redone",
        (9, 0, 2, lost),
        tuple(result[key] for key in ("ended", "lost", "failed", "redone")),
    )
    for nodes in began():
        check_true(f"once, or again on another node: {nodes}", len(set(nodes)) == len(nodes) <= 2)
    check("merged when all were done", "0\n1\n2\n3\n", log_of(box, 8))


@alone("a Slurm with its daemons")
def test_suite_by_slurm_is_cancelled(box: Box) -> None:
    box.not_emulated("Slurm of this machine")
    with cluster(2) as slurm:
        process = start(
            box,
            "executor: slurm\nat_once: 2\nbenchmarks: [{command: [sleep, '1000.5'], repetitions: 6}]",
            "-o",
            "out",
            env=slurm.env,
        )
        box.wait_for("works", lambda: len(running("sleep 1000.5")) == 2, 60)
        throttled = slurm.tool("squeue", "-h", "-r", "-t", "PD", "-o", "%r").split()
        check("why others wait", {"JobArrayTaskLimit"}, set(throttled))
        process.send_signal(signal.SIGINT)
        result = json.loads(box.finish(process, 130)[0])
        check("cancelled", True, result["cancelled"])
        box.wait_for("end of all works", lambda: not running("sleep 1000.5"), 60)
        box.wait_for("an empty queue", lambda: not slurm.tool("squeue", "-h").strip(), 60)


def test_suite_without_slurm(box: Box) -> None:
    err = box.finish(
        start(
            box,
            "executor: slurm\nbenchmarks: [{command: ['true']}]",
            env={"PATH": str(box.dir), "SLURM_CONF": "/nowhere"},
        ),
        None,
    )[1]
    check_true(f"a line that says so: {err!r}", err.count(b"\n") == 1)


ENGINE = """#!/bin/sh
echo "$@" >> %s
case "$1" in
version) echo 1; exit 0 ;;
rm) exit 0 ;;
esac
while [ "$1" != the/image ]; do shift; done
shift
exec "$@"
"""
DOCKER = """
executor: docker
docker: {program: ./engine, image: the/image, mounts: [{source: /usr, target: /data}], memory: 64m}
benchmarks: [{name: in, command: [sh, -c, 'echo inside; exit {n}'], matrix: {n: [0, 5]}}]
"""


def test_suite_in_containers(box: Box) -> None:
    """With an engine's command line that only pretends: what it is told, and what becomes of a container."""
    engine, calls = box.dir / "engine", box.dir / "calls"
    engine.write_text(ENGINE % calls)
    engine.chmod(engine.stat().st_mode | stat.S_IXUSR)
    result = told(box, DOCKER, status=1)
    check("exit statuses", [0, 5], [item["exit"] for item in result["items"]])
    check("log", "inside\n", log_of(box, 0))
    (run, *_) = [line for line in calls.read_text().splitlines() if line.startswith("run")]
    for words in (
        "--network none",
        "--cap-drop ALL",
        "--memory 64m",
        "source=/usr,target=/data,readonly",
        "--label fathom=suite",
    ):
        check_true(f"{words} in {run}", words in run)
    process = start(box, DOCKER.replace("echo inside", "sleep 1000.75"), "-o", "more")
    box.wait_for("a container", lambda: bool(running("sleep 1000.75")))
    process.send_signal(signal.SIGINT)
    box.finish(process, 130)
    check_true("its container was removed", "rm --force fathom-" in calls.read_text())


def test_suite_in_real_containers(box: Box) -> None:
    with engine() as one:
        image = one.shell()
        spec = f"executor: docker\ndocker: {{image: '{image}'}}\nbenchmarks: [{{command: [/bin/sh, -c, 'exit 4']}}]"
        check("exit status", 4, told(box, spec, status=1, env=one.env)["items"][0]["exit"])


@contextlib.contextmanager
def jenkins_in(box: Box) -> Iterator[Jenkins]:
    server = Jenkins(box.root / "jenkins")
    try:
        yield server
    finally:
        server.close()


def by_jenkins(server: Jenkins, benchmarks: str) -> str:
    return f"executor: jenkins\njenkins: {{url: '{server.url}', user: {USER}}}\nbenchmarks: {benchmarks}"


def test_suite_by_jenkins(box: Box) -> None:
    """Made, built with parameters, followed, and its files fetched; a job that is there is brought up to date."""
    with jenkins_in(box) as server:
        env = {"JENKINS_TOKEN": TOKEN}
        command = '\'echo "it is {n}" && mkdir deep && echo "$GREETING {n}" > "deep/a file"; exit {n}\''
        spec = by_jenkins(
            server,
            f'[{{name: j, command: {command}, matrix: {{n: [0, 6]}}, environment: {{GREETING: "it\'s & <me>"}}}}]',
        )
        result = told(box, spec, status=1, env=env)
        check("exit statuses", [0, 6], [item["exit"] for item in result["items"]])
        check("host", {"agent-1"}, {item["host"] for item in result["items"]})
        check_true("log", "it is 6\n" in log_of(box, 1))
        check("files", "it's & <me> 0\n", (box.dir / "out/0/1/files/deep/a file").read_text())
        check("calls that made it", 1, sum("createItem" in path for path in server.seen))
        server.jobs["fathom-suite"] = "<project/>"
        shutil.rmtree(box.dir / "out")
        check("again", 1, told(box, spec, status=1, env=env)["failed"])
        check("calls that changed it", 1, sum("config.xml" in path for path in server.seen))


def test_suite_by_jenkins_with_a_password(box: Box) -> None:
    """A crumb and its session are asked for; the wrong token is an error, and nothing is built."""
    with jenkins_in(box) as server:
        spec = by_jenkins(server, "[{command: ['true']}]")
        err = box.finish(start(box, spec, env={"JENKINS_TOKEN": "wrong"}), 3)[1]
        check_true(f"said: {err!r}", b"status 401" in err and b"wrong" not in err)
        server.password = True
        secret = box.dir / "secret"
        secret.write_text(PASSWORD + "\n")
        secret.chmod(0o600)
        check("ended", 1, told(box, spec.replace("user:", f"token_file: {secret}, user:"))["ended"])
        check("builds", 1, len(server.builds))


def test_suite_by_jenkins_that_forgets(box: Box) -> None:
    """Queue items vanish, answers are lost, a build is thrown away: each work is done, and counted once."""
    with jenkins_in(box) as server:
        server.forgets, server.mute, server.loses = True, 2, 1
        spec = by_jenkins(server, "[{name: j, command: 'echo $FATHOM_WORK_ID > id', repetitions: 4}]")
        result = told(box, spec, env={"JENKINS_TOKEN": TOKEN})
        check("ended, redone", (4, 1), (result["ended"], result["redone"]))
        check("builds", 5, len(server.builds))
        ids = [path.read_text().strip() for path in box.dir.glob("out/*/*/files/id")]
        check("works", 4, len(set(ids)))


def test_suite_by_jenkins_is_cancelled(box: Box) -> None:
    with jenkins_in(box) as server:
        process = start(
            box, by_jenkins(server, "[{command: [sleep, '1001']}]"), "-o", "out", env={"JENKINS_TOKEN": TOKEN}
        )
        box.wait_for("a build", lambda: bool(running("sleep 1001")))
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        box.finish(process, 130)
        box.wait_for("its end", lambda: not running("sleep 1001"))
        server.held = True
        process = start(
            box, by_jenkins(server, "[{command: [sleep, '1001']}]"), "-o", "more", env={"JENKINS_TOKEN": TOKEN}
        )
        box.wait_for("a queue item", lambda: bool(server.waiting))
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        box.finish(process, 130)
        check("the queue", [], server.waiting)


def test_suite_without_jenkins(box: Box) -> None:
    process = start(box, "executor: jenkins\njenkins: {url: 'http://127.0.0.1:1'}\nbenchmarks: [{command: ['true']}]")
    err = box.finish(process, 3)[1]
    if err.count(b"\n") != 1:
        raise Failure(f"one line, got {err!r}")

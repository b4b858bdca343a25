# SPDX-License-Identifier: MIT
"""fathom container run with a command of this machine: no engine, the same results."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from jobs import alone
from kit import Box, Process, Skipped, check, check_true, processes_with
from metrics_page import ask, free_port, wait_for

GROUPS = Path("/sys/fs/cgroup")
NO_GROUP = "was measured by its processes, as no control group could be made"


def start(box: Box, spec: dict[str, Any], out: str, by: tuple[str, ...] = ()) -> Process:
    (box.dir / f"{out}.yaml").write_text(json.dumps(spec))
    command = (*by, "/usr/bin/env", "--default-signal=INT,QUIT", box.kit.fathom, "container", "run", "-q")
    none = {"DOCKER_HOST": "unix:///no/engine"}
    return box.start(*command, "-o", box.root / out, box.dir / f"{out}.yaml", env=none)


def run(
    box: Box, spec: dict[str, Any], out: str, status: int = 0, by: tuple[str, ...] = ()
) -> tuple[bytes, bytes, Any]:
    stdout, stderr = box.finish(start(box, spec, out, by), status)
    profile = box.root / out / "profile.json"
    return stdout, stderr, json.loads(profile.read_text()) if profile.exists() else None


def test_container_command_without_an_engine(box: Box) -> None:
    """Streams, status, recordings, outputs and the check are as of a container."""
    words = (
        "echo $WORD; echo err >&2; cat /etc/passwd > /dev/null; mkdir -p o; echo 1 > o/x; ln -sf /etc o/link; exit 7"
    )
    spec = {"command": ["sh", "-c", words], "environment": {"WORD": "out"}, "outputs": ["o"], "success": {"exit": [7]}}
    out, err, profile = run(box, spec, "all", 7)
    check("stdout, stderr", (b"out\n", b"err\n"), (out, err))
    ended = [(r["kind"], r["exit"], r["success"]) for r in profile["runs"]]
    check("runs", [("probed", 7, True), ("plain", 7, True)], ended)
    kept = [(box.root / "all" / name).read_bytes() for name in ("stdout-1", "stderr-2", "outputs-2/o/x")]
    check("kept", [b"out\n", b"err\n", b"1\n"], kept)
    check("left out", [{"links": 1}] * 2, [one["left_out"] for one in profile["outputs"]])
    box.trace = box.root / "all" / "run-1.fathom"
    check_true("calls of the probed run", box.count("layer = 'posix'") > 0)
    box.trace = box.root / "all" / "run-2.fathom"
    check("events of the plain run", 0, box.count("layer <> 'resource'"))
    _, err, profile = run(box, {"command": ["no-such-program"]}, "none", 127)
    check("lines, results", (1, None), (err.count(b"\n"), profile))


def test_container_command_has_live_counters(box: Box) -> None:
    """What a program pushes is on the page of metrics while it runs, whatever its names, and so many names at most."""
    port, names, kept = free_port(), 5000, 1000
    command = [str(box.kit.victim("pushes")), "6", str(names)]
    process = start(box, {"command": command, "runs": ["probed"], "metrics": port}, "pushed")
    labels = 'application="pushes",run="probed"'
    progress = f'fathom_app_counter{{{labels},name="progress"}}'
    first = wait_for(box, port, progress)[progress]
    page = wait_for(box, port, progress, first + 50)
    odd = rf'fathom_app_counter{{{labels},name="a \"b\"\\n{{c=\"d\"}} 7"}}'
    check(f"the odd name in {sorted(page)[:3]}", 0.5, page.get(odd))
    check("names", kept, sum(series.startswith("fathom_app_counter{") for series in page))
    check("left out", names + 2 - kept, page[f"fathom_app_values_left_out_total{{{labels}}}"])
    for host, status in (("localhost", 200), ("[::1]:1", 200), ("evil.example", 421), (f"evil.example:{port}", 421)):
        check(f"Host: {host}", status, ask(port, host)[0])
    box.finish(process)
    box.trace = box.root / "pushed" / "run-1.fathom"
    where = "FROM counters WHERE layer = 'app'"
    told = box.values(f"SELECT count(DISTINCT name) {where}", f"SELECT max(value) {where} AND name = 'progress'")
    check("all are in the recording", [names + 2, 599], told)


def test_container_inside_has_live_metrics(box: Box) -> None:
    """What an image that profiles itself starts: FATHOM_PROFILE_METRICS is served in each of its two runs."""
    port, out = free_port(), box.root / "inside"
    env = {"FATHOM_PROFILE_OUTPUT": str(out), "FATHOM_PROFILE_SECONDS": "5", "FATHOM_PROFILE_METRICS": str(port)}
    command = (box.kit.fathom, "container", "inside", "--", box.kit.victim("pushes"), "60")
    process = box.start("/usr/bin/env", "--default-signal=INT,QUIT", *command, env=env)
    progress = 'fathom_app_counter{application="pushes",run="probed",name="progress"}'
    first = wait_for(box, port, progress)[progress]
    wait_for(box, port, progress, first + 50)
    page = wait_for(box, port, 'fathom_memory_total_bytes{application="pushes",run="plain"}')
    check_true(f"of the second run alone: {page}", all('run="plain"' in series for series in page))
    box.finish(process, 130)
    check("nobody answers any more", 0, ask(port)[0])
    _, said = box.finish(box.start(*command, env={**env, "FATHOM_PROFILE_METRICS": "x"}), 2)
    check("a mistake is told", True, said.startswith(b"fathom: FATHOM_PROFILE_METRICS must be HOST:PORT or PORT"))


def test_container_metrics_tell_a_port_that_was_chosen(box: Box) -> None:
    """Port 0: one line on stderr has the address, also with -q, of either command that serves; others are known."""
    program = [str(box.kit.victim("pushes")), "20"]
    (box.dir / "any.yaml").write_text(json.dumps({"command": program, "runs": ["probed"]}))
    words = (box.kit.fathom, "container", "run", "-q", "-o", box.root / "any", "--metrics", "0", box.dir / "any.yaml")
    inside = (box.kit.fathom, "container", "inside", "--", *program)
    env = {"FATHOM_PROFILE_OUTPUT": str(box.root / "inside"), "FATHOM_PROFILE_METRICS": "0"}
    for command, variables in ((words, {}), (inside, env)):
        process = box.start("/usr/bin/env", "--default-signal=INT,QUIT", *command, env=variables)
        line = process.stderr.readline().decode() if process.stderr else ""
        told = re.fullmatch(r"fathom: metrics are served at http://127\.0\.0\.1:(\d+)/metrics\n", line)
        check_true(f"a port in {line!r}", told)
        wait_for(box, int(told[1]) if told else 0, "fathom_app_counter")
        process.send_signal(signal.SIGINT)
        box.finish(process, None)
    known = {"command": ["true"], "runs": ["plain"], "metrics": free_port()}
    check("nothing is told of a port that is known", b"", run(box, known, "known")[1])


def test_container_options_are_of_their_action(box: Box) -> None:
    """An option that an action would not follow is a mistake, in one line; so is an empty place for metrics."""
    layer = box.root / "layer"
    for words, told in (
        (("base", "-o", layer, "--metrics", "9100"), "--metrics does not apply to 'fathom container base'"),
        (("base", "--force", "-o", layer), "--force does not apply to 'fathom container base'"),
        (("init", "-t", "x", "img:1"), "--tag does not apply to 'fathom container init'"),
        (("run", "--from", "x", "img:1"), "--from does not apply to 'fathom container run'"),
        (("inside", "-q", "--", "true"), "--quiet does not apply to 'fathom container inside'"),
        (("run", "--metrics", "", "img:1"), "--metrics needs a port, or an address and a port"),
    ):
        _, said = box.finish(box.start(box.kit.fathom, "container", *words), 2)
        check("told", f"fathom: {told}; run 'fathom container --help' for usage\n", said.decode())
    check("layers", False, layer.exists())
    usage = " ".join(box.fathom("container", "--help").decode().split())
    for words in (
        "inside: what such an image starts",
        "with 'command:', of a program of this machine",
        "*:PORT everyone",
    ):
        check_true(f"{words!r} in {usage}", words in usage)


def test_container_command_is_stopped(box: Box) -> None:
    """Time is over: SIGINT, SIGTERM, SIGKILL; and a signal to us reaches it."""
    words = "trap 'echo int' INT; trap 'echo term' TERM; while :; do sleep 0.1; done"
    spec = {"command": ["sh", "-c", words], "duration": "1s", "grace": "1s"}
    out, _, profile = run(box, spec, "late", 137)
    check("signals", [b"int\nterm\n"] * 2, [(box.root / "late" / f"stdout-{number}").read_bytes() for number in (1, 2)])
    check("stdout", b"int\nterm\n", out)
    check("timed out", [(137, True)] * 2, [(r["exit"], r["timed_out"]) for r in profile["runs"]])
    words = "trap 'echo over; exit 5' TERM; echo begun; while :; do sleep 0.1; done"
    process = start(box, {"command": ["sh", "-c", words], "runs": ["plain"]}, "told")
    kept = box.root / "told" / "stdout-1"
    box.wait_for("its begin", lambda: kept.exists() and kept.read_bytes() == b"begun\n")
    process.send_signal(signal.SIGTERM)
    out, _ = box.finish(process, 5)
    check("stdout", b"begun\nover\n", out)


def test_container_command_has_its_loops(box: Box) -> None:
    """As of an image: functions and loops of the application, and none of the interpreter's own start."""
    program = box.dir / "turns.py"
    program.write_text(
        "def work():\n    for _ in range(3):\n        sum(range(1000))\n\nfor _ in range(4):\n    work()\n"
    )
    _, _, profile = run(box, {"command": [sys.executable, str(program)], "runs": ["probed"]}, "loops")
    modules = {one.get("module") for one in profile["functions"]}
    check_true(f"its function in {profile['functions']}", any("work" in one["name"] for one in profile["functions"]))
    check(
        "functions of the interpreter's start", set(), modules & {"site", "importlib", "_frozen_importlib", "zipimport"}
    )
    loops = [one for one in profile["loops"] if one["file"] == str(program)]
    turns = {one["line"]: (one["runs"], one["turns"]) for one in loops}
    check(f"loops, runs and turns ({loops})", {2: (4, 12), 5: (1, 4)}, turns)


def groups_of(pid: int) -> list[Path]:
    return list(GROUPS.glob(f"**/fathom-run-{pid}.*"))


def needs_groups(profile: Any) -> None:
    told = [line for line in profile["words"] if NO_GROUP in line]
    if told:
        raise Skipped(told[0])


def test_container_command_daemons_end_with_it(box: Box) -> None:
    """A process that left the tree, the session and the streams is ended with either kind of run, and told."""
    mark = f"1000.{os.getpid()}"
    words = (
        f"(setsid sleep {mark} >/dev/null 2>&1 &); (setsid sh -c 'trap : TERM HUP; sleep {mark}' &); echo on; exit 0"
    )
    process = start(box, {"command": ["sh", "-c", words]}, "daemons")
    out, _ = box.finish(process, 0)
    check("stdout, daemons, groups", (b"on\n", [], []), (out, processes_with(mark), groups_of(process.pid)))
    told = json.loads((box.root / "daemons" / "profile.json").read_text())["words"]
    for number in (1, 2):
        check_true(f"told: {told}", any(line.startswith(f"Run {number} left ") for line in told))
    box.trace = box.root / "daemons" / "run-1.fathom"
    check_true("calls of the probed run", box.count("layer = 'posix'") > 0)


@alone("holds memory against a number")
def test_container_command_is_measured_by_a_group(box: Box) -> None:
    """The plain run has a control group of its own: memory that processes share counts once; the group goes with it."""
    words = (
        "import mmap, os, time\n"
        "shared = mmap.mmap(-1, 64 << 20)\n"
        "shared.write(b'x' * (64 << 20))\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        sum(shared[::4096])\n"
        "        time.sleep(1.5)\n"
        "        os._exit(0)\n"
        "time.sleep(1.5)\n"
    )
    process = start(box, {"command": ["python3", "-c", words], "runs": ["plain"]}, "group")
    box.finish(process, 0)
    profile = json.loads((box.root / "group" / "profile.json").read_text())
    needs_groups(profile)
    memory = profile["needs"]["memory_bytes"]
    check_true(f"shared once: {memory}", 64 << 20 < memory["peak"] < 160 << 20 and "reason" not in memory)
    check_true(f"processes: {profile['needs']['pids']}", profile["needs"]["pids"]["peak"] >= 4)
    check_true(
        f"network: {profile['needs']['net_in_rate']}", "the machine's" in profile["needs"]["net_in_rate"]["reason"]
    )
    check("groups that are left", [], groups_of(process.pid))
    box.trace = box.root / "group" / "run-1.fathom"
    check_true("series of the group", box.value("SELECT count(*) FROM counters WHERE name = 'cgroup_working_set'") > 0)


def test_container_command_without_control_groups(box: Box) -> None:
    """Where no group can be made, processes tell, and one sentence says so."""
    hidden = ("unshare", "--mount", "sh", "-c", 'umount -R -l /sys/fs/cgroup && exec "$@"', "sh")
    if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
        raise Skipped("control groups cannot be hidden here")
    _, _, profile = run(box, {"command": ["sleep", "0.5"], "runs": ["plain"]}, "hidden", by=hidden)
    told = [line for line in profile["words"] if NO_GROUP in line]
    check(f"told: {profile['words']}", 1, len(told))
    check_true(f"{profile['needs']}", profile["needs"]["memory_bytes"]["reason"].startswith("resident sets"))


def test_container_command_of_a_killed_owner(box: Box) -> None:
    """SIGKILL to us ends the program; the next run removes the group, and whoever is in it."""
    mark = f"2000.{os.getpid()}"
    words = f"sleep {mark} & echo begun; wait"
    process = start(box, {"command": ["sh", "-c", words], "runs": ["plain"]}, "killed")
    kept = box.root / "killed" / "stdout-1"
    box.wait_for("its begin", lambda: kept.exists() and kept.read_bytes() == b"begun\n")
    had_group = bool(groups_of(process.pid))
    process.kill()
    process.wait()
    _, _, profile = run(box, {"command": ["true"], "runs": ["plain"]}, "next")
    for pid in processes_with(mark) if not had_group else []:
        os.kill(pid, signal.SIGKILL)
    needs_groups(profile)
    check("groups, processes", (True, [], []), (had_group, groups_of(process.pid), processes_with(mark)))

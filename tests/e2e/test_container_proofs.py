# SPDX-License-Identifier: MIT
"""Applications of every kind in images of every kind: what they do is theirs, and the numbers are the kernel's own."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docker_engine import Engine, engine, hand_down_controllers
from jobs import alone
from kit import Box, Process, Skipped, check, check_true, processes_with
from pip_packages import packages

MIB = 1 << 20
READS = "layer = 'posix' AND name = 'pread' AND size = 100"
SAMPLED = "SELECT coalesce(sum(weight), 0) FROM samples WHERE event = 'cpu-clock'"  # ns
BOTH = ["probed", "plain"]
APP = "/app/contained"  # tests/victims/contained.c
SCHEMA = Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "container.json"


def app_image(box: Box, one: Engine, *changes: str, name: str = "app") -> str:
    """The program and its libraries; no shell and nothing else."""
    return one.image(name, {APP: box.kit.victim("contained")}, *changes)


def start(box: Box, one: Engine, out: str, spec: dict[str, Any], *options: str) -> Process:
    (box.dir / f"{out}.yaml").write_text(json.dumps(spec))
    command = (box.kit.fathom, "container", "run", *options, "-o", box.root / out, box.dir / f"{out}.yaml")
    (box.root / "tmp").mkdir(exist_ok=True)
    return box.start(*command, env={**one.env, "TMPDIR": str(box.root / "tmp")})


def run(box: Box, one: Engine, out: str, spec: dict[str, Any], status: int = 0) -> tuple[bytes, Any]:
    """What it wrote, and its profile. Nothing of ours is left but the results."""
    said, _ = box.finish(start(box, one, out, spec, "-q"), status)
    left = [path.name for path in (*(box.root / "tmp").iterdir(), *(box.root / out).glob(".*"))]
    check("files that are left", [], left)
    return said, json.loads((box.root / out / "profile.json").read_text())


def app(image: str, *words: object, **further: object) -> dict[str, Any]:
    return {"image": image, "arguments": [APP, *map(str, words)], **further}


def look_at(box: Box, out: str, number: int) -> None:
    box.trace = box.root / out / f"run-{number}.fathom"


def peak(profile: Any, what: str) -> float:
    return float(profile["needs"][what]["peak"])


def test_container_limits_are_enforced(box: Box) -> None:
    """Memory: Docker's status, the reason, and what was recorded until then. Processes and time: as many as allowed."""
    with engine() as one:
        image = app_image(box, one)
        out, profile = run(box, one, "oom", app(image, "eats", 200, limits={"memory": "64M"}), 137)
        check("stdout", b"hungry\n", out)
        ends = [(run["kind"], run["exit"], run["oom"], run["timed_out"]) for run in profile["runs"]]
        check("ends", [(kind, 137, True, False) for kind in BOTH], ends)
        check_true(f"peak: {peak(profile, 'memory_bytes')}", 8 * MIB < peak(profile, "memory_bytes") <= 64 * MIB)
        for number in (1, 2):
            look_at(box, "oom", number)
            check_true("points of curves", box.value("SELECT count(*) FROM counters") > 0)
        out, profile = run(box, one, "pids", app(image, "crowds", 60, limits={"pids": 24}))
        written = [(box.root / "pids" / f"stdout-{number}").read_bytes() for number in (1, 2)]
        check("processes, none of them ours", ([b"24 processes\n"] * 2, 24.0), (written, peak(profile, "pids")))
        spec = {**app(one.shell(), runs=["plain"], limits={"time": "1s"}, grace="500ms"), "arguments": ["sleep", "600"]}
        _, profile = run(box, one, "time", spec, 137)
        check("stopped", [True], [run["timed_out"] for run in profile["runs"]])
        check_true(f"in time: {profile['runs']}", 1 <= profile["runs"][0]["wall"] < 10)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "fathom-test", place], capture_output=True)
    if done.returncode != 0:
        raise Skipped(f"nothing can be mounted here: {done.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def test_container_with_a_full_disk_and_with_daemons(box: Box) -> None:
    """Failed writes are the application's own; who stays behind in a container is ended with it."""
    with small_disk(box.root / "small") as small, engine() as one:
        image = one.shell()
        words = "while echo 0123456789abcdef; do :; done > /small/file 2> /dev/null; exit 6"
        mount = {"source": str(small), "target": "/small", "write": True}
        _, profile = run(box, one, "full", {"image": image, "arguments": ["sh", "-c", words], "mounts": [mount]}, 6)
        check("statuses", [6, 6], [run["exit"] for run in profile["runs"]])
        check("bytes that fit", 64 << 10, (small / "file").stat().st_size)
        look_at(box, "full", 1)
        failed = box.count("layer = 'posix' AND name = 'write' AND file = '/small/file' AND error = 'ENOSPC'")
        check_true(f"the failed write is recorded: {failed}", failed >= 1)
        mark = f"3000.{os.getpid()}"
        words = f"sleep {mark} & (sh -c 'sleep {mark} & sleep {mark}' &) ; echo on; exit 0"
        out, _ = run(box, one, "daemons", {"image": image, "arguments": ["sh", "-c", words]})
        check("stdout, daemons", (b"on\n", []), (out, processes_with(mark)))


def names_of_made(one: Engine, since: float) -> list[str]:
    """The containers that were made since then, by the engine's own word."""
    words = ("--since", f"{since:.3f}", "--until", f"{time.time():.3f}", "--filter", "event=create")
    return one.docker("events", *words, "--format", "{{.Actor.Attributes.name}}").stdout.split()


def test_container_in_a_place_of_its_own(box: Box) -> None:
    """Terminal, network, user, folder and name are as the file says, and as `docker run` has them."""
    with engine() as one:
        image = one.shell()
        words = [
            "sh",
            "-c",
            "[ -t 1 ] && echo terminal; pwd; id -u; id -g; while read -r a b; do echo $a; done < /proc/net/dev",
        ]
        place = ("--tty", "--network", "host", "--user", "1000:1000", "--workdir", "/tmp")
        command = ["docker", "run", "--rm", *place, image, *words]
        by_docker = subprocess.run(command, capture_output=True, env={**os.environ, **one.env}, check=True)
        spec = {"image": image, "arguments": words, "tty": True, "network": "host", "user": "1000:1000"}
        spec |= {"workdir": "/tmp", "name": "ship", "layers": "posix", "warmup": 1}
        since = time.time()
        out, profile = run(box, one, "place", spec)
        check("stdout", by_docker.stdout, out)
        check_true(f"a terminal: {out!r}", out.startswith(b"terminal\r\n/tmp\r\n1000\r\n1000\r\n"))
        made = names_of_made(one, since)
        check("containers: a warm-up and a run of each kind", 4, len(made))
        check_true(f"their names: {made}", all(name.startswith("ship") for name in made))
        check("kinds", BOTH, [run["kind"] for run in profile["runs"]])
        look_at(box, "place", 1)
        layers = {row[0] for row in box.rows("SELECT DISTINCT layer FROM events")}
        check_true(f"layers: {layers}", "posix" in layers and "python" not in layers)


def test_container_engine_is_killed(box: Box) -> None:
    """SIGKILL to the engine: one line and status 3; what was recorded is kept, and the next command cleans up."""
    with engine() as one:
        image = one.shell()
        process = start(box, one, "killed", {"image": image, "arguments": ["sleep", "600"], "runs": ["plain"]}, "-q")
        box.wait_for("a container of ours", lambda: len(one.docker("ps", "--quiet").stdout.split()) == 1)
        recording = box.root / "killed" / "run-1.fathom"
        box.wait_for("a recording", lambda: (recording / "manifest.json").exists())
        time.sleep(1)
        one.kill()
        _, said = box.finish(process, 3)
        check(f"lines of {said!r}, the results' place", (1, True), (said.count(b"\n"), b"killed" in said))
        box.trace = recording
        check_true("points of its curves", box.value("SELECT count(*) FROM counters") > 0)
        one.start_again()
        out, _ = run(box, one, "next", {"image": image, "arguments": ["sh", "-c", "echo next"], "runs": ["plain"]})
        check("the next command, containers", (b"next\n", []), (out, one.containers()))


def from_outside(box: Box, one: Engine, kind: str, programs: dict[str, Path], word: str) -> None:
    image = one.image(kind, programs)
    out, profile = run(box, one, kind, app(image, "uses"))
    told = accounts(out)
    check_true(f"memory: {profile['needs']['memory_bytes']}", told["held"] <= peak(profile, "memory_bytes"))
    look_at(box, kind, 1)
    check("calls", 0, box.count("layer NOT IN ('resource', 'cpu')"))
    # The probed run has used as much as the plain one, whose words these are.
    expect_about("CPU time of samples", told["cpu"], box.value(SAMPLED), 0.4)
    info = json.dumps(box.info()).lower()
    check_true(f"{kind}: '{word}' in {info}", word in info)


def test_container_where_the_library_cannot_enter(box: Box) -> None:
    """Static, and with another libc: recorded from outside, and the recording says why."""
    with engine() as one:
        from_outside(box, one, "static", {APP: box.kit.victim("contained", "-static")}, "static")
        loaders = list(Path("/lib").glob("ld-musl-*.so.1"))
        if not loaders:
            raise Skipped("no musl here (apt install musl-tools)")
        musl = {APP: box.kit.victim("contained", compiler="musl-gcc"), str(loaders[0]): loaders[0]}
        from_outside(box, one, "musl", musl, "libc")


def test_container_without_a_shell(box: Box) -> None:
    """An image of nothing but programs with glibc: every call of every process, one row a process, CPU samples."""
    with engine() as one:
        image = app_image(box, one)
        run(box, one, "calls", app(image, "reads", 3, 50, layers="+syscall", runs=["probed"]))
        look_at(box, "calls", 1)
        by_process, rows, processes = box.answers(
            f"SELECT pid, count(*) AS n FROM events WHERE {READS} GROUP BY pid",
            "SELECT pid, container FROM processes",
            "SELECT count(DISTINCT pid) AS n FROM processes",
        )
        check("calls", [50] * 4, [count for _, count in by_process])
        check("rows, processes", (4, 4), (len(rows), processes[0][0]))
        check("containers", 1, len({container for _, container in rows}))
        check("losses", 0, box.losses())
        missing, calls = box.answers(
            "SELECT reason FROM layers WHERE layer = 'syscall' AND state = 'unavailable'",
            "SELECT coalesce(sum(calls), 0) AS n FROM intervals WHERE layer = 'syscall' AND name = 'pread64'",
        )
        check_true(f"the kernel's calls: {calls}, or a reason: {missing}", bool(missing) or calls[0][0] >= 4 * 50)
        # An ordinary program in C++, with its functions.
        program = box.kit.victim("threads_at_work", "-finstrument-functions", "-rdynamic")
        image = one.image("cpp", {"/app/work": program})
        _, profile = run(box, one, "cpp", {"image": image, "arguments": ["/app/work"]})
        names = {use["name"]: use["calls"] for use in profile["functions"]}
        check_true(
            f"functions: {names}", any(name.split("(")[0] == "main" and calls == 1 for name, calls in names.items())
        )
        look_at(box, "cpp", 1)
        check_true("samples", box.value(SAMPLED) > 0)


def test_container_base_for_other_users(box: Box) -> None:
    """The layer on an image of another user, with a root that cannot be written."""
    with engine() as one:
        image = one.shell("USER 1000:1000", 'ENTRYPOINT ["sh", "-c"]', 'CMD ["id -u; exit 4"]')
        box.run(box.kit.fathom, "container", "base", "--from", image, "-t", "test/base:1", env=one.env)
        check("its user", "1000:1000", one.inspect("test/base:1")["Config"]["User"])
        for how in ((), ("--read-only",)):
            out = box.root / f"out{''.join(how)}"
            out.mkdir()
            out.chmod(0o777)
            mount = f"type=bind,source={out},target=/app/profile_output"
            done = one.docker("run", "--rm", "--network", "none", *how, "--mount", mount, "test/base:1", status=4)
            check(f"its words {done.stderr!r}", True, done.stdout.startswith("1000\n"))
            box.trace = out / "profile.fathom"
            check_true("its calls", box.count("layer = 'posix'") > 0)


def accounts(out: bytes) -> dict[str, int]:
    """What contained.c says that its control group counted."""
    return {key: int(value) for key, value in (line.split() for line in out.decode().splitlines())}


def expect_about(what: str, wanted: float, got: float, share: float) -> None:
    check_true(f"{what}: {got} is not {wanted} within {share:.0%}", abs(got - wanted) <= share * wanted)


@alone("holds times against the kernel's")
def test_container_numbers_are_the_groups_own(box: Box) -> None:
    """CPU, memory, processes and throttling, against what the application read in its control group's files."""
    with engine() as one:
        image = app_image(box, one)
        out, profile = run(box, one, "uses", app(image, "uses", runs=["plain"], limits={"cpu": 0.2}))
        told, wall = accounts(out), profile["runs"][0]["wall"]
        expect_about("CPU seconds", told["cpu"] / 1e9, profile["needs"]["cpu_cores"]["typical"] * wall, 0.2)
        check_true(f"a fifth of a core: {profile['needs']['cpu_cores']}", peak(profile, "cpu_cores") <= 0.2 * 1.4)
        memory = peak(profile, "memory_bytes")
        check_true(f"memory: {memory} of {told}", told["held"] <= memory <= 1.02 * told["memory"])
        check("processes", float(told["processes"]), peak(profile, "pids"))
        look_at(box, "uses", 1)
        held_back = "SELECT coalesce(max(value), 0) FROM counters WHERE name = 'cgroup_throttled_periods'"
        check_true(f"periods of {told}", told["throttled"] <= box.value(held_back) <= told["throttled"] + 3)
        page = (box.root / "uses" / "profile.html").read_text()
        for word in (image, profile["recommend"]["limits"]["memory"]):
            check_true(f"{word} on the page", word in page)
        if told["throttled"] == 0:
            raise Skipped("the machine is too busy for the application to reach its limit of CPU")
        check_true("the page tells that it was held back", "throttl" in page.lower())


def test_container_last_words(box: Box) -> None:
    """Without -q the summary and the functions follow on stderr; what `init` writes runs as it is."""
    with engine() as one:
        image = app_image(box, one, f'ENTRYPOINT ["{APP}"]', 'CMD ["reads", "1", "20"]', "ENV SEA=baltic")
        text = box.run(box.kit.fathom, "container", "init", image, env=one.env)
        (box.dir / "init.yaml").write_bytes(text)
        command = (box.kit.fathom, "container", "run", "-o", box.root / "out", "init.yaml")
        out, err = box.finish(box.start(*command, env=one.env))
        check("stdout", b"", out)
        words = err.decode()
        for word in ("overhead", "cores", "memory", "function"):
            check_true(f"{word} in {words}", word in words.lower())
        profile = json.loads((box.root / "out" / "profile.json").read_text())
        limit = profile["recommend"]["limits"]["memory"]
        check_true(f"the limit {limit} in {words}", limit in words)
        names = sorted(path.name for path in (box.root / "out").iterdir())
        check_true(f"the page in {names}", "profile.html" in names)


# Instructions and whether they are right: the schema and the program have to agree.
GOOD = [
    {"image": "a", "limits": {"cpu": 0.5, "memory": "512M", "pids": 100, "time": "10m"}, "network": "host"},
    {"image": "a:1", "user": 1000, "tty": True, "gpus": "all", "workdir": "/tmp", "warmup": 0, "repetitions": 3},
    {"image": "a", "environment": {"A": 1, "B": "x"}, "runs": ["plain"], "duration": 90, "grace": "500ms"},
    {"image": "a", "outputs": ["/app/x"], "success": {"exit": [0, 3], "output": "done"}, "runtime": "runc"},
]
BAD = [
    {},
    {"image": ""},
    {"image": "--privileged"},
    {"image": "a", "command": ["true"]},
    {"image": "a", "privileged": True},
    {"image": "a", "arguments": "a b"},
    {"image": "a", "environment": ["A=1"]},
    {"image": "a", "environment": {"A=B": "1"}},
    {"image": "a", "limits": {"disk": 3}},
    {"image": "a", "limits": {"cpu": 0}},
    {"image": "a", "limits": {"memory": "much"}},
    {"image": "a", "limits": {"pids": 0}},
    {"image": "a", "mounts": [{"source": "/x"}]},
    {"image": "a", "mounts": [{"source": "/x", "target": "x"}]},
    {"image": "a", "data": "/x"},
    {"image": "a", "results": "out"},
    {"image": "a", "outputs": ["x"]},
    {"image": "a", "outputs": []},
    {"image": "a", "network": "a b"},
    {"image": "a", "gpus": -1},
    {"image": "a", "runs": []},
    {"image": "a", "runs": ["probed", "probed"]},
    {"image": "a", "runs": ["fast"]},
    {"image": "a", "repetitions": 0},
    {"image": "a", "warmup": -1},
    {"image": "a", "duration": "0"},
    {"image": "a", "duration": "-1s"},
    {"image": "a", "tty": "yes please"},
    {"image": "a", "success": {}},
    {"image": "a", "success": {"exit": [256]}},
    {"image": "a", "name": "-x"},
    {"image": "a", "user": "-u"},
    {"image": "a", "workdir": "tmp"},
    {"command": []},
    {"command": ["true"], "network": "host"},
    {"command": ["true"], "limits": {"cpu": 1}},
    {"command": ["true"], "outputs": ["/etc/passwd"]},
    {"command": ["true"], "outputs": ["../x"]},
]
JUDGE = """
import json, sys, jsonschema
schema, specs = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
judge = jsonschema.Draft202012Validator(schema)
print(json.dumps([judge.is_valid(spec) for spec in specs]))
"""


def accepted(box: Box, spec: dict[str, Any]) -> bool:
    """Whether the program finds no mistake in it: without an engine it comes no further."""
    (box.dir / "spec.yaml").write_text(json.dumps(spec))
    command = (box.kit.fathom, "container", "run", "-q", "-o", box.root / "out", "spec.yaml")
    _, said = box.finish(box.start(*command, env={"DOCKER_HOST": "unix:///no/engine"}), 3)
    check(f"lines of {said!r}", 1, said.count(b"\n"))
    return re.match(rb"fathom: spec\.yaml:\d+:\d+: ", said) is None


def test_container_schema_agrees_with_the_program(box: Box) -> None:
    specs = box.dir / "specs.json"
    specs.write_text(json.dumps([*GOOD, *BAD]))
    bought = {"PYTHONPATH": str(packages("schema"))}
    by_schema = json.loads(box.run(sys.executable, "-c", JUDGE, SCHEMA, specs, env=bought))
    for spec, valid in zip([*GOOD, *BAD], by_schema):
        wanted = spec in GOOD
        check(f"by the schema, by the program: {spec}", (wanted, wanted), (valid, accepted(box, spec)))


def test_container_controllers_are_handed_down(box: Box) -> None:
    """As in a container of CI: processes leave its top group, so that an engine's groups get controllers."""
    for name, text in {"cgroup.controllers": "cpu memory\n", "cgroup.procs": "1\n22\n"}.items():
        (box.dir / name).write_text(text)
    hand_down_controllers(box.dir)
    check("the machine's own", False, (box.dir / "fathom-tests").exists())
    if Path("/run/systemd/system").exists():
        raise Skipped("systemd looks after the groups here")
    (box.dir / "cgroup.type").write_text("domain\n")
    hand_down_controllers(box.dir)
    check("handed down", "+cpu +memory", (box.dir / "cgroup.subtree_control").read_text())
    check("the last one that moved", "22", (box.dir / "fathom-tests" / "cgroup.procs").read_text())

# SPDX-License-Identifier: MIT
"""fathom suite over images: on this machine, by a real Slurm, and by a stand-in for Jenkins; one table for all."""

import json
import signal
from typing import Any

from docker_engine import Engine, engine
from jenkins_server import TOKEN, USER, Jenkins
from jobs import alone
from kit import Box, check, check_true
from slurm_cluster import Cluster

PAIRS = [("old", "small"), ("old", "large"), ("new", "small"), ("new", "large")]


def spec_of(one: Engine, **further: object) -> dict[str, Any]:
    for name in ("old", "new"):
        one.shell(f"ENV AGE={name}", name=name)
    work = {"name": "sizes", "image": "test/{age}:1", "arguments": ["sh", "-c", "echo $AGE {size}; sleep 0.2"]}
    matrix = {"age": ["old", "new"], "size": ["small", "large"]}
    return {"benchmarks": [{**work, "matrix": matrix}], "environment": one.env, **further}


def run(box: Box, spec: dict[str, Any], *options: str, env: dict[str, str] | None = None) -> tuple[str, str]:
    (box.dir / "suite.yaml").write_text(json.dumps(spec))
    command = (box.kit.fathom, "suite", "run", "suite.yaml", "-o", "runs", *options)
    out, err = box.finish(box.start(*command, env=env))
    return out.decode(), err.decode()


def expect_all(box: Box, one: Engine, result: Any, below: str) -> None:
    """Each was profiled by itself, and stands in the table of all."""
    check("runs, failed, lost", (4, 0, 0), tuple(result[key] for key in ("runs", "failed", "lost")))
    folders = [box.dir / "runs" / str(i) / "1" / below / "profile" for i in range(4)]
    got = [(folder / "stdout-2").read_text() for folder in folders]
    check("what they printed", [f"{age} {size}\n" for age, size in PAIRS], got)
    rows = result["needs"]
    check("lines", [f"sizes age={age} size={size}" for age, size in PAIRS], [row["application"] for row in rows])
    for row, folder in zip(rows, folders):
        profile = json.loads((folder / "profile.json").read_text())
        (plain,) = [item for item in profile["runs"] if item["kind"] == "plain"]
        check("wall", round(plain["wall"], 6), round(row["wall"] / 1e9, 6))
        check("memory", round(profile["needs"]["memory_bytes"]["peak"]), row["memory_peak"])
        check("limit", profile["recommend"]["limits"]["cpu"], row["limit_cpu"])
    check("containers that are left", [], one.containers())


def test_container_suite_of_images(box: Box) -> None:
    """A matrix of images and arguments; each tells what it needs when it has ended, and `needs` compares them, too."""
    with engine() as one:
        out, err = run(box, spec_of(one), "--format", "json")
        expect_all(box, one, json.loads(out), "")
        live = [line for line in err.splitlines() if line.startswith("fathom: sizes age=")]
        check_true(f"four lines while it ran: {err}", len(live) == 4 and "cores (peak" in live[0])
        folders = sorted((box.dir / "runs").glob("*/1/profile"))
        table = box.fathom("needs", *folders).decode()
        check_true(f"a line for each folder: {table}", all(str(folder) in table for folder in folders))
        patch = box.fathom("needs", folders[0], "--format", "patch").decode()
        limit = json.loads((folders[0] / "profile.json").read_text())["recommend"]["limits"]["memory"]
        check_true(f"a patch of a folder: {patch}", f"memory: {limit}" in patch)
        box.fathom("needs", *folders, "--format", "html", status=2)


def test_container_suite_of_an_image_that_is_missing(box: Box) -> None:
    """A work that fails, with the engine's own status; the others go on. Ctrl-C leaves no container."""
    with engine() as one:
        spec = spec_of(one)
        (work,) = spec["benchmarks"]
        work["image"], work["matrix"] = "test/{age}:1", {"age": ["old", "none"], "size": ["small"]}
        (box.dir / "suite.yaml").write_text(json.dumps(spec))
        command = ("/usr/bin/env", "--default-signal=INT", box.kit.fathom, "suite", "run", "suite.yaml")
        out, _ = box.finish(box.start(*command, "-o", "runs", "--format", "json"), 1)
        result = json.loads(out)
        check("statuses", [0, 125], [item["exit"] for item in result["items"]])
        check("lines", 1, len(result["needs"]))
        work["arguments"], work["matrix"] = ["sleep", "600"], {"age": ["old"]}
        (box.dir / "suite.yaml").write_text(json.dumps(spec))
        process = box.start(*command, "-o", "more")
        box.wait_for("a container", lambda: len(one.containers()) == 1)
        process.send_signal(signal.SIGINT)
        box.finish(process, 130)
        box.wait_for("its end", lambda: one.containers() == [])


@alone("a Slurm with its daemons")
def test_container_suite_by_slurm(box: Box) -> None:
    box.not_emulated("Slurm of this machine")
    cluster = Cluster(2)
    try:
        with engine() as one:
            out, _ = run(box, spec_of(one, executor="slurm", at_once=2), "--format", "json", env=cluster.env)
            expect_all(box, one, json.loads(out), "")
    finally:
        cluster.close()


def test_container_suite_by_jenkins(box: Box) -> None:
    """Results come back as the build's files."""
    server = Jenkins(box.root / "jenkins")
    try:
        with engine() as one:
            place = {"url": server.url, "user": USER}
            spec = spec_of(one, executor="jenkins", jenkins=place)
            out, _ = run(box, spec, "--format", "json", env={"JENKINS_TOKEN": TOKEN})
            expect_all(box, one, json.loads(out), "files")
    finally:
        server.close()

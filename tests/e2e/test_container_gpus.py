# SPDX-License-Identifier: MIT
"""GPUs and containers: asked for by name alone, and measured from outside by NVML's stand-in (tests/cuda)."""

import json
from typing import Any

from docker_engine import Engine, engine
from kit import Box, Process, check, check_true
from test_gpus import library


def start(box: Box, one: Engine, spec: dict[str, Any], **env: str) -> Process:
    (box.dir / "spec.yaml").write_text(json.dumps(spec))
    command = (box.kit.fathom, "container", "run", "-q", "-o", box.root / "out", "spec.yaml")
    return box.start(*command, env={**one.env, **env})


def test_container_uses_a_gpu(box: Box) -> None:
    """What its process has of the GPU, as the driver tells it, and as this machine counts processes."""
    named = box.dir / "pid"
    env = {"LD_LIBRARY_PATH": str(library(box).parent), "FAKE_NVML_PID_FILE": str(named)}
    with engine() as one:
        words = ["sh", "-c", "cat /go > /dev/null; while [ ! -s /go ]; do sleep 0.1; done; sleep 2"]
        (box.dir / "go").touch()
        mounts = [{"source": "go", "target": "/go"}]
        spec = {"image": one.shell(), "arguments": words, "mounts": mounts, "runs": ["plain"]}
        process = start(box, one, spec, **env)
        box.wait_for("its process", lambda: any(pids(one)))
        named.write_text(str(next(pid for pid in pids(one) if pid)))
        (box.dir / "go").write_text("go")
        box.finish(process)
    needs = json.loads((box.root / "out" / "profile.json").read_text())["needs"]
    box.trace = box.root / "out" / "run-1.fathom"
    sums = "SELECT ts, sum(value) AS s FROM counters WHERE name LIKE 'gpu%_process_memory' GROUP BY ts"
    (most,) = box.values(f"SELECT max(s) FROM ({sums})")
    check_true(f"memory of its process: {most}", int(most) >= 3 << 20)
    check("peak", int(most), int(needs["gpu_memory_bytes"]["peak"]))
    check_true(f"busy: {needs['gpu_busy']}", needs["gpu_busy"]["peak"] > 0)
    check("of the process, not of whoever used it", None, needs["gpu_memory_bytes"].get("reason"))


def pids(one: Engine) -> list[int]:
    return [int(one.inspect(name)["State"]["Pid"]) for name in one.containers()]


def test_container_asks_for_a_gpu_that_is_not_there(box: Box) -> None:
    """The engine's no, in its own words: without its runtime for GPUs there is none, and nothing is left."""
    with engine() as one:
        spec = {"image": one.shell(), "arguments": ["id"], "gpus": 1}
        _, said = box.finish(start(box, one, spec), 125)
        check_true(f"said: {said!r}", said.count(b"\n") == 1 and b"device driver" in said)
        check("results, containers", (False, []), ((box.root / "out").exists(), one.containers()))

# SPDX-License-Identifier: MIT
"""A real plugin of Waggle's in a container: by `fathom container run`, and by the image that profiles itself."""

import csv
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from docker_engine import Engine, engine
from jobs import may_take
from kit import Box, Failure, check, check_true
from pip_packages import packages

FRAMES, HEIGHT = 5, 48
VICTIMS = Path(__file__).resolve().parent.parent / "victims"
# What a camera of the node sees: a film of frames that are all as bright, by the same library.
FILM = """
import sys, cv2, numpy
film = cv2.VideoWriter(sys.argv[1], cv2.VideoWriter_fourcc(*"MJPG"), 10, (64, 48))
for _ in range(3): film.write(numpy.full((48, 64, 3), 200, numpy.uint8))
film.release()
"""
CONFIG = [{"match": {"id": "bottom"}, "handler": {"type": "video", "args": {"url": "/data/film.avi"}}}]
CALLS = {"main": 1, "look": FRAMES, "brightness": FRAMES}
TURNS = {"main": FRAMES, "brightness": FRAMES * HEIGHT}


def plugin_image(box: Box, one: Engine, place: str, *changes: str) -> str:
    """With the plugin at `place`, a film in box.dir/data, and the node's data config beside it."""
    bought = packages("waggle")
    (box.dir / "data").mkdir()
    film = box.dir / "data" / "film.avi"
    box.run(sys.executable, "-c", FILM, film, env={"PYTHONPATH": str(bought)})
    (box.dir / "data-config.json").write_text(json.dumps(CONFIG))
    return one.python("plugin", {place: VICTIMS / "waggle_plugin.py"}, bought, *changes)


def published(folder: Path) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in (folder / "log" / "data.ndjson").read_text().splitlines()]
    return [(line["name"], line["meta"]["frame"]) for line in lines]


def expect_published(folder: Path) -> None:
    check("published", [("image.brightness", str(i)) for i in range(FRAMES)], published(folder))


def expect_output(out: bytes) -> None:
    rows = [line.split() for line in out.decode().splitlines()]
    check(
        "frames, and one brightness", (list(range(FRAMES)), 1), ([int(r[0]) for r in rows], len({r[1] for r in rows}))
    )


def own_functions(profile: Any) -> dict[str, int]:
    return {use["name"].split(".")[-1]: use["calls"] for use in profile["functions"] if use["layer"] == "python"}


def expect_profile(folder: Path) -> None:
    profile = json.loads((folder / "profile.json").read_text())
    check("runs", [("probed", 3), ("plain", 3)], [(run["kind"], run["exit"]) for run in profile["runs"]])
    check("data", 64, len(profile["data"]["sha256"]))
    functions = own_functions(profile)
    check("calls", CALLS, {name: functions.get(name) for name in CALLS})
    check_true(f"the library's own: {sorted(functions)}", functions.get("publish") == FRAMES)
    own = [loop for loop in profile["loops"] if loop["file"] == "/app/app.py"]
    check("turns", TURNS, {loop["function"].split(".")[-1]: loop["turns"] for loop in own})


def profile_it(box: Box, one: Engine, image: str) -> None:
    """Functions, loops, output and exit status of a plugin that nobody changed."""
    spec = {
        "image": image,
        "entrypoint": ["python3", "app.py"],
        "arguments": [str(FRAMES)],
        "environment": {"PYWAGGLE_LOG_DIR": "/results/log"},
        "data": {"source": "data", "target": "/data"},
        "mounts": [{"source": "data-config.json", "target": "/run/waggle/data-config.json"}],
        "results": "/results",
    }
    (box.dir / "spec.yaml").write_text(json.dumps(spec))
    folder = box.root / "profiled"
    command = (box.kit.fathom, "container", "run", "-q", "-o", folder, "spec.yaml")
    out, err = box.finish(box.start(*command, env=one.env), 3)
    expect_output(out)
    check("stderr", (folder / "stderr-2").read_bytes(), err)
    expect_published(folder / "results-1")
    expect_published(folder / "results-2")
    expect_profile(folder)


def let_it_profile_itself(box: Box, one: Engine, image: str) -> None:
    """As Waggle's users have it: FROM the base image, ENTRYPOINT ["./profiler.sh"], files in /app/profile_output."""
    box.run(box.kit.fathom, "container", "base", "--from", image, "-t", "test/base:1", env=one.env)
    (box.dir / "own").mkdir()
    (box.dir / "own" / "Dockerfile").write_text('FROM test/base:1\nWORKDIR /app\nENTRYPOINT ["./profiler.sh"]\n')
    build(one, box.dir / "own", "test/mine:1")
    out = box.root / "out"
    out.mkdir()
    mounts = {out: "/app/profile_output", box.dir / "data": "/data"}
    mounts[box.dir / "data-config.json"] = "/run/waggle/data-config.json"
    flags = [word for source, target in mounts.items() for word in ("-v", f"{source}:{target}")]
    words = ("run", "--rm", "--network", "none", "-e", "PYWAGGLE_LOG_DIR=/app/profile_output/log", *flags)
    done = one.docker(*words, "test/mine:1", FRAMES, status=3)
    expect_output("\n".join(done.stdout.splitlines()[:FRAMES]).encode())
    expect_published(out)
    names = times(out / "ftimes.csv")
    for name, calls in CALLS.items():
        both = (names[f"In Function {name}()"], names[f"Leaving Function {name}()"])
        check(f"{name} entered and left", (calls, calls), both)
    turns = times(out / "ltimes.csv")["Top of For Loop"]
    check_true(f"turns of for loops: {turns}", turns >= sum(TURNS.values()))
    check("files", [], [name for name in ("stats.csv", "profile.0.0.0") if not (out / name).exists()])


def times(path: Path) -> Counter[str]:
    with path.open(newline="") as file:
        return Counter(row["name"] for row in csv.DictReader(file))


@may_take(600)
def test_container_of_a_waggle_plugin(box: Box) -> None:
    with engine() as one:
        image = plugin_image(box, one, "/app/app.py")
        profile_it(box, one, image)
        let_it_profile_itself(box, one, image)
        check("containers that are left", [], one.containers())


def build(one: Engine, folder: Path, name: str) -> None:
    """By the engine's classic builder, which needs nothing from elsewhere."""
    env = {**one.env, "DOCKER_BUILDKIT": "0", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)}
    command = [shutil.which("docker") or "docker", "build", "--network", "none", "-t", name, folder]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env, timeout=120)
    if done.returncode != 0:
        raise Failure(f"docker build: {done.stdout[-300:]} {done.stderr[-300:]}")

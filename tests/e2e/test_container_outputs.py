# SPDX-License-Identifier: MIT
"""fathom container run: checks of success, files that are copied out, and the engine's runtime."""

import json
import shutil
from pathlib import Path
from typing import Any

from docker_engine import Engine, engine, podman
from kit import Box, check, check_true


def run(box: Box, one: Engine, spec: dict[str, Any], out: str, status: int = 0) -> tuple[bytes, Any]:
    """What was said on stderr, and the profile."""
    file = box.dir / f"{out}.yaml"
    file.write_text(json.dumps(spec))
    command = (box.kit.fathom, "container", "run", "-q", "-o", box.root / out, file)
    _, err = box.finish(box.start(*command, env=one.env), status)
    profile = box.root / out / "profile.json"
    return err, json.loads(profile.read_text()) if profile.exists() else None


def shell(image: str, words: str, **further: object) -> dict[str, Any]:
    return {"image": image, "arguments": ["sh", "-c", words], "runs": ["plain"], **further}


def test_container_check_of_success(box: Box) -> None:
    """Statuses and a text of stdout decide; the status stays the application's, but 0 is not said of a failure."""
    with engine() as one:
        image = one.shell()
        err, profile = run(box, one, shell(image, "echo half", success={"output": "^done"}), "text", 1)
        check("success", [False], [one["success"] for one in profile["runs"]])
        check_true(f"the reason: {profile['runs']}", "does not contain" in profile["runs"][0]["failure"])
        check_true(f"a sentence: {err!r}", b"1 of 1 run failed the success check: stdout does not" in err)
        check_true(f"in words: {profile['words']}", any("failed its check" in line for line in profile["words"]))
        _, profile = run(box, one, shell(image, "echo; echo done.", success={"output": "^done"}), "found", 0)
        check("success", [True], [one["success"] for one in profile["runs"]])
        _, profile = run(box, one, shell(image, "exit 3", success={"exit": [0, 3]}), "listed", 3)
        check("success", [True], [one["success"] for one in profile["runs"]])
        _, profile = run(box, one, shell(image, "exit 4", success={"exit": [0, 3]}), "other", 4)
        check("success", [False], [one["success"] for one in profile["runs"]])
        _, profile = run(box, one, shell(image, "exit 4"), "unasked", 4)
        check("success, no reason", [(False, False)], [(r["success"], "failure" in r) for r in profile["runs"]])
        # A suite's verdict is the check's.
        works = [{"name": name, "image": str(box.dir / f"{name}.yaml")} for name in ("listed", "text")]
        (box.dir / "suite.yaml").write_text(json.dumps({"benchmarks": works, "environment": one.env}))
        out = box.fathom("suite", "run", "suite.yaml", "-q", "-o", "runs", "--format", "json", status=1)
        check("failed", 1, json.loads(out)["failed"])
        check("containers that are left", [], one.containers())


def files_below(folder: Path) -> dict[str, str]:
    kept = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return {str(path.relative_to(folder)): path.read_text() for path in kept}


def test_container_outputs_are_copied(box: Box) -> None:
    """Files come out by their paths, of each run; links and what is too large do not, and are counted."""
    with engine() as one:
        programs = {f"/bin/{word}": Path(shutil.which(word) or "") for word in ("sh", "mkdir", "ln", "truncate")}
        image = one.image("files", programs)
        words = (
            "echo 1,2 > /app/out.csv; mkdir -p /app/deep/er; echo log > /app/deep/er/log; "
            "ln -s /etc/passwd /app/deep/link; ln -s /tmp /app/deep/dir; truncate -s 1100M /app/deep/huge"
        )
        spec = shell(image, words, outputs=["/app/out.csv", "/app/deep", "/none"], repetitions=2)
        _, profile = run(box, one, spec, "out")
        for number in (1, 2):
            got = files_below(box.root / "out" / f"outputs-{number}")
            check("files", {"app/out.csv": "1,2\n", "app/deep/er/log": "log\n"}, got)
        left = {"links": 2, "missing": 1, "too large": 1}
        check("counted", [(2, left)] * 2, [(one["files"], one["left_out"]) for one in profile["outputs"]])
        check_true(f"in words: {profile['words']}", any("links (2)" in line for line in profile["words"]))
        check("containers that are left", [], one.containers())


def refused_runtime(box: Box, one: Engine, runtime: str) -> None:
    err, profile = run(box, one, shell(one.shell(), "exit 0", runtime=runtime), runtime, 125)
    check(f"named: {err!r}", True, runtime.encode() in err)
    check("results, containers", (None, []), (profile, one.containers()))


def test_container_runtime(box: Box) -> None:
    """The engine's runtime by its name; one that it does not know is its no, in its words."""
    with engine() as one:
        run(box, one, shell(one.shell(), "exit 0", runtime="runc"), "known")
        refused_runtime(box, one, "no-such-runtime")


def test_container_runtime_of_podman(box: Box) -> None:
    """Podman would overlook it: refused, whatever its name."""
    with podman() as one:
        refused_runtime(box, one, "runc")


def test_container_usual_results_are_copied(box: Box) -> None:
    """What lies in /app/profile_output comes out, where the image has that folder and nobody said anything else."""
    with engine() as one:
        programs = {f"/bin/{word}": Path(shutil.which(word) or "") for word in ("sh", "cat")}
        note = box.dir / "note"
        note.write_text("of the image\n")
        image = one.image("usual", {**programs, "/app/profile_output/note": note})
        words = "echo deep > /app/profile_output/log"
        _, profile = run(box, one, shell(image, words), "usual")
        found = files_below(box.root / "usual" / "outputs-1")
        check("files", {"app/profile_output/log": "deep\n", "app/profile_output/note": "of the image\n"}, found)
        check("told", [(1, 2)], [(told["run"], told["files"]) for told in profile["outputs"]])
        _, profile = run(box, one, shell(image, words, results="/app/profile_output"), "named")
        check(
            "only in its place",
            [False, True],
            [(box.root / "named" / name).exists() for name in ("outputs-1", "results-1")],
        )
        _, profile = run(box, one, shell(one.shell(), "echo on"), "none")
        told = (box.root / "none" / "outputs-1").exists(), profile.get("outputs", [])
        check("an image without it", (False, []), told)


def test_container_instructions_are_mounted(box: Box) -> None:
    """A probed run finds the file by a variable, also as another user; the plain one has nothing of ours."""
    with engine() as one:
        words = "echo $FATHOM_INSTRUCTIONS; cat $FATHOM_INSTRUCTIONS < /dev/null"
        spec = {"image": one.shell("USER 1000:1000"), "arguments": ["sh", "-c", words]}
        run(box, one, spec, "mounted")
        said = [(box.root / "mounted" / f"stdout-{number}").read_text() for number in (1, 2)]
        text = (box.dir / "mounted.yaml").read_text()
        check("what both runs found", [f"/.fathom/instructions.yaml\n{text}", "\n"], said)


EVENTS = ["page-faults", "context-switches", "task-clock"]


def check_counts(box: Box, recording: Path) -> None:
    box.trace = recording
    counts = dict(box.rows("SELECT name, max(value) FROM counters WHERE layer = 'cpu' GROUP BY ALL"))
    found = {name: counts.get(name, 0) for name in EVENTS}
    check_true(f"events that were counted: {counts}", found["page-faults"] > 0 and found["task-clock"] > 0)
    check_true(f"events that have a row: {counts}", set(EVENTS) <= set(counts))


def test_container_events_are_counted(box: Box) -> None:
    """`count`: events of perf, of a container's processes and of a command's."""
    work = "i=0; while test $i -lt 3; do cat /bin/sh > /dev/null; i=$((i+1)); sleep 0.3; done"
    with engine() as one:
        spec = {"image": one.shell(), "arguments": ["sh", "-c", work], "runs": ["probed"], "count": EVENTS}
        run(box, one, spec, "image")
        check_counts(box, box.root / "image" / "run-1.fathom")
        run(box, one, {"command": ["sh", "-c", work], "runs": ["probed"], "count": EVENTS}, "command")
        check_counts(box, box.root / "command" / "run-1.fathom")

# SPDX-License-Identifier: MIT
"""fathom container: applications in containers of a real engine, what comes of them, and what is left: nothing."""

import gzip
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from docker_engine import Engine, engine, podman
from kit import Box, Failure, Process, check, check_true
from metrics_page import ask, free_port, wait_for


def start(box: Box, engine: Engine, *words: object) -> Process:
    command = ("/usr/bin/env", "--default-signal=INT,QUIT", box.kit.fathom, "container", "run", "-q")
    return box.start(*command, "-o", box.root / "out", *words, env=engine.env)


def run(box: Box, engine: Engine, spec: dict[str, Any], status: int = 0) -> tuple[bytes, bytes, Any]:
    """What the application wrote, and its profile."""
    file = box.dir / "spec.yaml"
    file.write_text(json.dumps(spec))
    out, err = box.finish(start(box, engine, file), status)
    return out, err, json.loads((box.root / "out" / "profile.json").read_text())


def forget(box: Box) -> None:
    shutil.rmtree(box.root / "out")


def test_container_application_is_the_same(box: Box) -> None:
    """Streams and status are the application's; the probed run is recorded, the plain one has nothing of ours."""
    with engine() as one:
        image = one.shell()
        words = "echo out; echo err >&2; cat /app/../etc/passwd 2> /dev/null; exit 7"
        out, err, profile = run(box, one, {"image": image, "arguments": ["sh", "-c", words]}, 7)
        check("stdout, stderr", (b"out\n", b"err\n"), (out, err))
        check("kinds, statuses", [("probed", 7), ("plain", 7)], [(r["kind"], r["exit"]) for r in profile["runs"]])
        kept = [(box.root / "out" / name).read_bytes() for name in ("stdout-1", "stdout-2", "stderr-1", "stderr-2")]
        check("kept", [b"out\n", b"out\n", b"err\n", b"err\n"], kept)
        box.trace = box.root / "out" / "run-1.fathom"
        check_true("calls of the probed run", box.count("layer = 'posix'") > 0)
        names = box.rows("SELECT DISTINCT length(container) FROM processes")
        check("every process names its container", [(64,)], names)
        box.trace = box.root / "out" / "run-2.fathom"
        check("events of the plain run", 0, box.count("layer <> 'resource'"))
        check("containers that are left", [], one.containers())
        left = [path.name for path in (box.root / "out").iterdir() if path.name.startswith(".")]
        check("what was mounted is gone", [], left)


def test_container_by_podman(box: Box) -> None:
    """The same by Podman's socket, also its no."""
    with podman() as one:
        image = one.shell("USER 1000:1000")
        # Long enough to be looked at: what ends before anybody looks has no memory to tell of.
        words = "echo out; echo err >&2; cat /bin/id > /dev/null; sleep 2; exit 7"
        out, err, profile = run(box, one, {"image": image, "arguments": ["sh", "-c", words]}, 7)
        check("stdout, stderr", (b"out\n", b"err\n"), (out, err))
        check("kinds, statuses", [("probed", 7), ("plain", 7)], [(r["kind"], r["exit"]) for r in profile["runs"]])
        check_true("memory", profile["needs"]["memory_bytes"]["peak"] > 0)
        box.trace = box.root / "out" / "run-1.fathom"
        check_true("calls of the probed run", box.count("layer = 'posix' AND file = '/bin/id'") > 0)
        check("its name", [(64,)], box.rows("SELECT DISTINCT length(container) FROM processes"))
        forget(box)
        for kind in ("probed", "plain"):
            (box.dir / "spec.yaml").write_text(json.dumps({"image": image, "arguments": ["none"], "runs": [kind]}))
            _, said = box.finish(start(box, one, box.dir / "spec.yaml"), 127)
            check(f"lines, named ({kind}: {said!r})", (1, True), (said.count(b"\n"), b"none" in said))
        check("containers that are left", [], one.containers())


def test_container_by_another_user(box: Box) -> None:
    """Recorded from inside as a user whom nobody knows, with a root that cannot be written, and a place of results."""
    with engine() as one:
        image = one.shell("USER 1000:1000")
        words = "id -u; echo deep > /results/log; cat /results/log"
        spec = {"image": image, "arguments": ["sh", "-c", words], "read_only": True, "results": "/results"}
        out, err, _ = run(box, one, spec)
        check("stdout, stderr", (b"1000\ndeep\n", b""), (out, err))
        box.trace = box.root / "out" / "run-1.fathom"
        check_true("calls", box.count("layer = 'posix' AND file LIKE '%/results/log'") > 0)
        logs = sorted(str(path.relative_to(box.root / "out")) for path in (box.root / "out").rglob("log"))
        check("results", ["results-1/log", "results-2/log"], logs)
        forget(box)
        # A program that is made for DFTracer finds its log where it wants it.
        words = "cat /bin/id > /dev/null"
        wishes = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": "/results/log", "DFTRACER_INIT": "PRELOAD"}
        run(box, one, {**spec, "arguments": ["sh", "-c", words], "environment": wishes, "runs": ["probed"]})
        logs = [gzip.decompress(path.read_bytes()) for path in (box.root / "out" / "results-1").glob("log-*.pfw.gz")]
        check_true(f"a log with calls in {logs}", any(b"/bin/id" in log for log in logs))
        forget(box)
        # The engine's no is one line, and leaves nothing.
        process = start(box, one, image, "no-such-program")
        _, said = box.finish(process, 127)
        check("lines, named", (1, True), (said.count(b"\n"), b"no-such-program" in said))
        check("results, containers", (False, []), ((box.root / "out").exists(), one.containers()))
        # A program that is there and cannot be run ends as it ends without us.
        broken = box.dir / "broken"
        broken.write_text("#!/not/here\n")
        broken.chmod(0o755)
        image = one.image("broken", {"/app/broken": broken})
        alone = one.docker("run", "--rm", "--network", "none", image, "broken", status=None)
        out, err, _ = run(box, one, {"image": image, "arguments": ["broken"]}, alone.returncode)
        check("stdout, stderr", (alone.stdout.encode(), alone.stderr.encode()), (out, err))


def test_container_is_stopped_and_cleaned_up(box: Box) -> None:
    """Time is over: SIGINT, SIGTERM, SIGKILL. Killed, the next command removes what we left, and no other's."""
    with engine() as one:
        image = one.shell()
        words = "trap 'echo int' INT; trap 'echo term' TERM; while :; do sleep 0.1; done"
        spec = {"image": image, "arguments": ["sh", "-c", words], "duration": "1s", "grace": "500ms", "runs": ["plain"]}
        out, _, profile = run(box, one, spec, 137)
        check("signals", b"int\nterm\n", out)
        check("timed out", [(137, True)], [(r["exit"], r["timed_out"]) for r in profile["runs"]])
        forget(box)
        other = one.docker("run", "--detach", "--network", "none", image, "sleep", "600").stdout.strip()
        process = start(box, one, image, "sleep", "600")
        box.wait_for("a container of ours", lambda: len(one.containers()) == 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        check("containers", 2, len(one.containers()))
        box.root.joinpath("out").rename(box.root / "before")
        out, _ = box.finish(start(box, one, image, "sh", "-c", "echo next"))
        check("the next command", b"next\n", out)
        check("containers that are left", [other], one.containers())
        # One that runs already is recorded from outside, and ends with it.
        box.trace = box.root / "running.fathom"
        recorder = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--container", other)
        box.wait_for("a recording", lambda: (box.trace / "manifest.json").exists())
        one.docker("kill", other)
        box.finish(recorder)
        check("its name", [(other,)], box.rows("SELECT DISTINCT container FROM processes"))
        one.docker("rm", other)


def test_container_that_ignores_signals_is_ended_by_the_third(box: Box) -> None:
    """One signal asks, and `grace` decides; whoever asks three times does not want to wait."""
    with engine() as one:
        image = one.shell()
        words = "trap '' INT TERM; echo up; while :; do sleep 0.1; done"
        spec = {"image": image, "arguments": ["sh", "-c", words], "duration": "1h", "grace": "1h", "runs": ["plain"]}
        (box.dir / "spec.yaml").write_text(json.dumps(spec))
        process = start(box, one, box.dir / "spec.yaml")
        box.wait_for(
            "its word", lambda: (box.root / "out/stdout-1").exists() and (box.root / "out/stdout-1").stat().st_size > 0
        )
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)  # one that waits already is not sent twice
        box.finish(process, 137)
        check("containers that are left", [], one.containers())


def test_container_engine_restarts(box: Box) -> None:
    """The engine goes away and comes back: one line and status 3, and the next command removes what was left."""
    with engine() as one:
        image = one.shell()
        process = start(box, one, image, "sleep", "600")
        box.wait_for("a container of ours", lambda: len(one.containers()) == 1)
        one.restart()
        _, said = box.finish(process, 3)
        check("lines", 1, said.count(b"\n"))
        # What a run has recorded until then is kept; there is no profile of a part.
        folder = box.root / "out"
        check("profiles", [], list(folder.glob("profile*")))
        shutil.rmtree(folder, ignore_errors=True)
        out, _ = box.finish(start(box, one, image, "sh", "-c", "echo next"))
        check("the next command, containers", (b"next\n", []), (out, one.containers()))


def test_container_that_profiles_itself(box: Box) -> None:
    """`container base`: an image with our layer runs its own entry point, and leaves a recording."""
    with engine() as one:
        image = one.shell('ENTRYPOINT ["sh", "-c"]', 'CMD ["echo deep; exit 4"]')
        box.run(box.kit.fathom, "container", "base", "--from", image, "-t", "test/self:1", env=one.env)
        out = box.root / "out"
        out.mkdir()
        mount = f"type=bind,source={out},target=/app/profile_output"
        done = one.docker("run", "--rm", "--network", "none", "--mount", mount, "test/self:1", status=4)
        check("the application's words", True, done.stdout.startswith("deep\n"))
        box.trace = out / "profile.fathom"
        check_true("its calls", box.count("layer = 'posix'") > 0)
        check_true(f"Waggle's files in {sorted(path.name for path in out.iterdir())}", (out / "stats.csv").exists())
        labels = one.inspect("test/self:1")["Config"]["Labels"]
        check("nobody's to clean up", "", labels["fathom.owner"])


def profiling_image(box: Box, engine: Engine, words: str) -> tuple[str, Path]:
    """An image that profiles this line of a shell, and the folder that its results come to."""
    image = engine.shell('ENTRYPOINT ["sh", "-c"]', f"CMD {json.dumps([words])}")
    box.run(box.kit.fathom, "container", "base", "--from", image, "-t", "test/self:1", env=engine.env)
    out = box.root / "out"
    out.mkdir(exist_ok=True)
    return f"type=bind,source={out},target=/app/profile_output", out


def check_results(box: Box, out: Path) -> None:
    found = sorted(path.name for path in out.iterdir())
    check_true(f"all results in {found}", {"stats.csv", "ftimes.csv", "profile.0.0.0"} <= set(found))
    box.trace = out / "profile.fathom"
    check_true("its calls", box.count("layer = 'posix'") > 0)


def test_container_that_profiles_itself_is_stopped(box: Box) -> None:
    """`docker stop` reaches the application; what it was until then is written before the engine kills everything."""
    with engine() as one:
        slow = "trap 'echo over; exit 5' TERM; cat /bin/id > /dev/null; echo up; while :; do sleep 0.1; done"
        deaf = "trap '' TERM INT; cat /bin/id > /dev/null; echo up; while :; do sleep 0.1; done"
        for words, said, status in ((slow, "up\nover\n", 5), (deaf, "up\n", 137)):
            mount, out = profiling_image(box, one, words)
            how = ("--detach", "--network", "none", "--mount", mount, "--env", "FATHOM_PROFILE_GRACE=1")
            name = one.docker("run", *how, "test/self:1").stdout.strip()
            box.wait_for("its word", lambda name=name: "up" in one.docker("logs", name).stdout)
            one.docker("stop", name)
            ended = one.inspect(name)["State"]["ExitCode"]
            told = one.docker("logs", name)
            one.docker("rm", name)
            one.docker("rmi", "test/self:1")  # the next one has its name
            check(f"status ({told})", status, ended)
            check("its words", True, told.stdout.startswith(said))
            check_results(box, out)
            forget(box)


def test_container_that_profiles_itself_runs_twice(box: Box) -> None:
    """What does not end by itself is stopped, and runs once more without anything of ours; what ends does not."""
    with engine() as one:
        words = "trap 'echo int; exit 4' INT; echo \"preload $LD_PRELOAD\"; while :; do sleep 0.1; done"
        mount, out = profiling_image(box, one, words)
        how = ("run", "--rm", "--network", "none", "--mount", mount)
        done = one.docker(*how, "--env", "FATHOM_PROFILE_SECONDS=1", "test/self:1", status=4)
        lines = done.stdout.splitlines()
        check("its words", ["int", "preload ", "int"], lines[1:4])
        check_true(f"probed first: {lines}", "libfathom" in lines[0])
        check("told", True, "runs once more without probes" in done.stderr)
        check_results(box, out)
        box.trace = out / "plain.fathom"
        check("events of the plain run", 0, box.count("layer <> 'resource'"))
        done = one.docker(*how, "--env", "FATHOM_PROFILE_SECONDS=x", "test/self:1", status=2)
        check("a mistake is told", (1, True), (done.stderr.count("\n"), "FATHOM_PROFILE_SECONDS" in done.stderr))


def test_container_that_profiles_itself_has_a_terminal(box: Box) -> None:
    """`docker run -ti`: a line of stdin and one Ctrl-C arrive, once each."""
    with engine() as one:
        words = (
            "test -t 0 && test -t 1 && read word && echo got $word; trap 'echo int; exit 3' INT; echo ready;"
            " while :; do sleep 0.1; done"
        )
        mount, out = profiling_image(box, one, words)
        command = ["docker", "run", "-ti", "--rm", "--network", "none", "--mount", mount, "test/self:1"]
        ours, theirs = pty.openpty()
        env = {**os.environ, **one.env}
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
        os.close(theirs)
        os.write(ours, b"deep\n")
        said = read_until(ours, b"ready\r\n")
        os.write(ours, b"\x03")
        said += read_until(ours, None)
        os.close(ours)
        check("status", 3, process.wait(60))
        check_true(f"the line: {said!r}", b"got deep\r\n" in said)
        check("Ctrl-C", 1, said.count(b"int\r\n"))
        check_results(box, out)


def read_until(terminal: int, word: bytes | None) -> bytes:
    """What a terminal shows until this word, or its end."""
    said = b""
    while word is None or word not in said:
        if not select.select([terminal], [], [], 120)[0]:
            raise Failure(f"nothing more comes after {said!r}")
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    return said


def test_container_has_live_metrics(box: Box) -> None:
    """`metrics`: on the host's loopback, while a container without a network runs; the application's counters, too."""
    port = free_port()
    with engine() as one:
        image = one.image("pushes", {"/app/pushes": box.kit.victim("pushes")})
        spec = {"image": image, "arguments": ["/app/pushes", "5"], "name": "boats", "metrics": port}
        (box.dir / "spec.yaml").write_text(json.dumps(spec))
        process = start(box, one, box.dir / "spec.yaml")
        for kind in ("probed", "plain"):
            labels = f'{{application="boats",run="{kind}"'
            page = wait_for(box, port, f"fathom_cgroup_working_set_bytes{labels}}}")
            check_true(f"of this run alone: {page}", all(f'run="{kind}"' in series for series in page))
            if kind == "probed":
                progress = f'fathom_app_counter{labels},name="progress"}}'
                first = wait_for(box, port, progress)[progress]
                wait_for(box, port, progress, first + 50)
        check_true(f"a plain run tells no counters: {page}", not any("app" in series.split("{")[0] for series in page))
        check("a name that leads here", 421, ask(port, "evil.example")[0])
        box.finish(process)
        check("nobody answers any more", 0, ask(port)[0])


def test_container_without_an_engine(box: Box) -> None:
    """One line, at once, and nothing made. A mistake in a file is told first, with its place."""
    file = box.dir / "spec.yaml"
    file.write_text("image: a\nlimits: {disk: 3}\n")
    command = (box.kit.fathom, "container", "run", "-o", box.root / "out", file)
    nowhere = {"DOCKER_HOST": f"unix://{box.root}/nothing"}
    _, said = box.finish(box.start(*command, env=nowhere), 3)
    check("the place of the mistake", True, said.startswith(f"fathom: {file}:2:10: unknown key 'disk'".encode()))
    file.write_text("image: a\n")
    _, said = box.finish(box.start(*command, env=nowhere), 3)
    check("one line that names the engine", (1, True), (said.count(b"\n"), b"DOCKER_HOST" in said))
    check("results", False, Path(box.root / "out").exists())

# SPDX-License-Identifier: MIT
"""fathom container against engines and images that mean no good: one line, an end in time, and nothing left."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from docker_engine import engine
from kit import Box, Failure, Skipped, check, check_true
from rubbish_engine import RubbishEngine

STAGES = ("/version", "/images/", "/containers/json", "/containers/create", "/attach", "/wait", "/start")
INTERRUPTS = ("/usr/bin/env", "--default-signal=INT,QUIT,TERM")


@contextlib.contextmanager
def rubbish(box: Box, mode: str, stage: str) -> Iterator[RubbishEngine]:
    """Its path is short: it is a socket's."""
    path = box.root / "e"
    path.unlink(missing_ok=True)
    one = RubbishEngine(path, mode, stage)
    try:
        yield one
    finally:
        one.close()


def expect_refused(box: Box, mode: str, stage: str) -> None:
    with rubbish(box, mode, stage) as one:
        command = (box.kit.fathom, "container", "run", "-q", "-o", box.root / "out", "img:1")
        _, said = box.finish(box.start(*command, env=one.env), None)
        what = f"{mode} at {stage}: {said!r}"
        check_true(what, said.count(b"\n") == 1 and said.startswith(b"fathom: ") and b"\x1b" not in said)
        check_true(f"{what}: nothing is left", not (box.root / "out").exists())
        made = any("/create" in line for line in one.seen) and stage not in ("/containers/create",)
        removed = any(line.startswith("DELETE") for line in one.seen)
        check(f"{what}: what was made is removed", made, removed)


def test_container_engine_that_answers_rubbish(box: Box) -> None:
    """Bytes that are no HTTP, refusals, closed lines, endless and deep answers: at each request."""
    for mode in ("noise", "no", "closes"):
        for stage in STAGES:
            expect_refused(box, mode, stage)
    for mode in ("endless", "deep"):
        for stage in ("/version", "/containers/create"):
            expect_refused(box, mode, stage)


def test_container_engine_that_is_silent(box: Box) -> None:
    """Ctrl-C ends the waiting for an engine that says nothing, or drop by drop."""
    for mode, stage in (("silent", "/images/"), ("drips", "/containers/create"), ("silent", "/start")):
        with rubbish(box, mode, stage) as one:
            command = (*INTERRUPTS, box.kit.fathom, "container", "run", "-q", "-o", box.root / "out", "img:1")
            process = box.start(*command, env=one.env)
            box.wait_for(f"its question for {stage}", lambda one=one, stage=stage: any(stage in s for s in one.seen))
            process.send_signal(signal.SIGINT)
            _, said = box.finish(process, 3)
            check(f"{mode} at {stage}: {said!r}", 1, said.count(b"\n"))
            check_true("nothing is left", not (box.root / "out").exists())


def test_container_engine_that_may_not_be_asked(box: Box) -> None:
    """Another user is told what to do about it."""
    if os.geteuid() != 0:
        raise Skipped("becoming another user needs root")
    with rubbish(box, "no", "nothing") as one:
        Path(box.root / "e").chmod(0o600)
        box.root.chmod(0o755)
        command = ("/usr/bin/setpriv", "--reuid=65534", "--clear-groups", box.kit.fathom, "container", "run", "img:1")
        _, said = box.finish(box.start(*command, env=one.env), 3)
        if b"docker USER" not in said:
            raise Failure(f"{said!r}")


def test_container_source_becomes_a_link(box: Box) -> None:
    """What a file may mount is looked at again before each run."""
    with engine() as one:
        image = one.shell()
        (box.dir / "data").mkdir()
        spec = box.dir / "spec.yaml"
        words = "arguments: [sh, -c, 'echo up; sleep 3']\nmounts: [{source: data, target: /data}]\n"
        spec.write_text(f"image: {image}\n{words}")
        process = box.start(box.kit.fathom, "container", "run", "-q", "-o", box.root / "out", spec, env=one.env)
        box.wait_for("its first run", lambda: has_words(box.root / "out" / "stdout-1"))
        (box.dir / "data").rmdir()
        (box.dir / "data").symlink_to("/proc")
        _, said = box.finish(process, 3)
        check_true(f"said: {said!r}", b"the kernel's" in said)
        check("containers that are left", [], one.containers())


def has_words(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def test_container_image_with_hostile_words(box: Box) -> None:
    """Labels, variables and commands of an image are data: shown escaped, in force nowhere."""
    with engine() as one:
        evil = r"x\nnetwork: host\x1b[31m"
        image = one.shell(f'LABEL "{evil}"="y"', f'ENV EVIL="{evil}"', f'WORKDIR "/{evil}"', 'CMD ["--privileged"]')
        text = box.run(box.kit.fathom, "container", "init", image, env=one.env)
        check_true(f"no escape in {text!r}", b"\x1b" not in text)
        lines = [line for line in text.splitlines() if line and not line.startswith(b"#")]
        check("lines that are in force", [f'image: "{image}"'.encode()], lines)
        command = (box.kit.fathom, "container", "run", "-q", "-o", box.root / "out", image)
        _, said = box.finish(box.start(*command, env=one.env), 127)
        check(f"one line: {said!r}", 1, said.count(b"\n"))
        check("containers that are left", [], one.containers())


def test_container_instructions_without_an_end(box: Box) -> None:
    """A device as a file: refused at once."""
    box.fathom("container", "run", "/dev/zero", status=3)
    box.fathom("suite", "run", "/dev/zero", status=3)

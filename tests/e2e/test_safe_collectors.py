# SPDX-License-Identifier: MIT
"""Collectors of drop-ins: they write where their own user said so, lie where nobody else can, and are met by nobody."""

import gzip
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from jobs import alone
from kit import Box, Skipped, check, check_true
from test_alnair import copying, preloaded, timeline
from test_safe_spool import unshared

PRELOAD = "libdftracer_preload.so"
CANARY = b"nobody may touch these bytes\n"
NOBODY, OTHER = 65534, 54322  # OTHER owns nothing else on this machine


def variables(box: Box, log: Path, library: Path | None = None, **more: str) -> dict[str, str]:
    box.not_emulated("no collector is started there")
    settings = {"ENABLE": "1", "INIT": "PRELOAD", "LOG_FILE": str(log), "DATA_DIR": "all"}
    named = {f"DFTRACER_{key}": value for key, value in settings.items()}
    return {"LD_PRELOAD": str(library or box.kit.build / PRELOAD), **named, **more}


def reads_in(path: Path) -> int:
    return gzip.decompress(path.read_bytes()).count(b'"name":"pread"')


def files(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path.is_file()}


def copy_of_living(box: Box, loot: Path) -> Path:
    """A spool that asks for files in `loot`, copied while its program lived: no process knows the copy."""
    loot.mkdir()
    process = box.start(
        box.kit.victim("adopts"), "reaps", "stop", env=variables(box, loot / "trace", FATHOM_OUT=str(box.trace))
    )
    box.wait_for("a pool", lambda: any(box.trace.glob("spool/*.pool")))
    box.wait_for("the file of its child", lambda: any(loot.glob("*.pfw.gz")))
    subprocess.run(["cp", "-a", box.trace, box.root / "sent"], check=False, capture_output=True)
    (box.dir / "stop").touch()
    box.finish(process)
    box.wait_for("the end of the collector", lambda: not (box.trace / "spool").exists())
    return box.root / "sent"


def test_places_are_not_taken_from_the_spool(box: Box) -> None:
    """A copy of a recording has nobody who vouches for what it asks for; the user may say where to, and only adds."""
    loot, here = box.root / "loot", box.root / "here"
    here.mkdir()
    sent = copy_of_living(box, loot)
    for path in loot.iterdir():
        path.write_bytes(CANARY)
    before = files(loot)
    for name in ("first", "second"):
        shutil.copytree(sent, box.root / name)
    _, said = box.finish(box.start(box.kit.fathom, "collect", sent))
    check_true(f"it says what to do: {said!r}", b"--dftracer LOG" in said)
    box.fathom("collect", "-q", box.root / "first", "--dftracer", here / "log")
    check("reads", [100, 100], [reads_in(path) for path in sorted(here.glob("log-*.pfw.gz"))])
    check("a recording that was made for more stays", True, (box.root / "first" / "manifest.json").exists())
    written = files(here)
    box.fathom("collect", "-q", box.root / "second", "--dftracer", here / "log", status=3)
    check("files that were there", written, files(here))
    check("what the spool names", before, files(loot))


def test_state_is_not_taken_from_the_spool(box: Box) -> None:
    """What a collector before noted could be anybody's words."""
    trap = box.root / "trap"
    trap.mkdir()
    for name in ("canary", "timeline.log", "metrics.log", "timeline-7.log"):
        (trap / name).write_bytes(CANARY)
    before = files(trap)
    box.run(box.kit.victim("adopts"), "reaps", "/", env=box.unsupervised())
    spool = box.trace / "spool"
    (spool / "dftracer-files").write_text(f"0\n5 {trap}/canary\n")
    (spool / "alnair-files").write_text(f"0\n{trap}\nall 0 0 5 x\n7 7 0 0 x\n")
    for name in ("collector.lock", "nobody-collects"):
        (spool / name).touch()
    box.fathom("collect", "-q", box.trace)
    check("files", before, files(trap))


# --- other users


def public(box: Box, mode: int) -> Path:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skipped("only root can act as several users")
    place = Path("/tmp") / f"fathom-test-{box.root.parent.name}-{box.root.name}-{time.time_ns()}"
    box.remove.append(place)
    place.mkdir()
    place.chmod(mode)
    return place


def installed(box: Box, mode: int = 0o755) -> Path:
    """A copy of what is installed that every user can run."""
    place = public(box, mode)
    for path in (box.kit.build / "libfathom.so", box.kit.build / "fathom", box.kit.victim("adopts")):
        shutil.copy(path, place / path.name)
    return place


def as_other(*words: object) -> list[object]:
    return ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", *words]


def run_as_other(box: Box, programs: Path, log: Path, home: Path) -> None:
    env = variables(box, log, programs / "libfathom.so", HOME=str(home))
    words = [f"{key}={value}" for key, value in env.items()]
    out = box.run(*as_other("env", *words, programs / "adopts", "reaps", "/"))
    check("the program", {"own": 1, "strangers": 0, "signals": 1}, box.told(out))


def taken(path: Path) -> None:
    """What another user prepared: everybody may write there."""
    (path / "spool").mkdir(parents=True)
    for one in (path, path / "spool"):
        os.chown(one, NOBODY, NOBODY)
        one.chmod(0o777)


@alone("takes names that a user has on the whole machine")
def test_names_that_others_took(box: Box) -> None:
    """In a place like /tmp, and where our own directory would be: nothing of theirs is used, and the files come."""
    programs, crowd = installed(box), public(box, 0o1777)
    home = public(box, 0o700)
    os.chown(home, OTHER, OTHER)
    known = crowd / f".trace-{os.uname().nodename}-{OTHER}.fathom"
    own = [Path(parent) / f"fathom-{OTHER}" for parent in ("/tmp", "/var/tmp", "/dev/shm")]
    box.remove += own
    for places in ([known], [known, own[0]], [known, *own]):
        for path in crowd.glob("trace-*"):
            path.unlink()
        for path in [known, *own]:
            shutil.rmtree(path, ignore_errors=True)
        for path in places:
            taken(path)
        run_as_other(box, programs, crowd / "trace", home)
        check(
            f"reads of both processes, {len(places)} taken",
            [100, 100],
            [reads_in(path) for path in crowd.glob("trace-*.pfw.gz")],
        )
        for path in places:
            check("what was written there", [], list((path / "spool").iterdir()))


@alone("acts as the same user as the test before")
def test_program_that_another_put_there(box: Box) -> None:
    """What is run is what the library's owner put beside it: nothing of anybody who may write there, too."""
    programs = installed(box, 0o1777)
    mark = public(box, 0o1777) / "ran"
    for mode, owner in ((0o755, NOBODY), (0o777, 0)):
        trap = programs / "fathom"
        trap.write_text(f"#!/bin/sh\n: > {mark}\n")
        trap.chmod(mode)
        os.chown(trap, owner, owner)
        logs = public(box, 0o700)
        os.chown(logs, OTHER, OTHER)
        run_as_other(box, programs, logs / "trace", logs)
        check("a program of another user ran", False, mark.exists())
        trap.unlink()


def test_logs_that_are_links(box: Box) -> None:
    """Alnair's logs have known names: what lies there and is no plain file of ours is not written to."""
    logs, canary = box.dir / "logs", box.dir / "canary"
    canary.write_bytes(CANARY)
    for name in ("timeline.log", "metrics.log.new"):
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        (logs / name).symlink_to(canary)
        box.run(copying(box), "linked", env=preloaded(box, PFLOG=str(logs)))
        check(name, CANARY, canary.read_bytes())
    check("lines", 21, len(timeline(logs / "timeline.log")))


# --- programs that adopt orphans


@alone("must end within seconds")
def test_first_process(box: Box) -> None:
    """PID 1 of a container meets no stranger, and all that ends with it has its file when it is gone."""
    first = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    box.not_emulated("it would be the first process itself")
    if not shutil.which("unshare") or subprocess.run([*first, "true"], capture_output=True, check=False).returncode:
        raise Skipped("no right to make a namespace of processes")
    for kept in ({}, {"FATHOM_OUT": str(box.trace)}):
        logs = box.dir / f"logs{len(kept)}"
        logs.mkdir()
        words = [f"{key}={value}" for key, value in variables(box, logs / "log", **kept).items()]
        started = time.monotonic()
        out = box.run(*first, "env", *words, box.kit.victim("adopts"), "reaps")
        check_true("it waits for its files, and not for more", time.monotonic() - started < 9)
        check("what it met", {"own": 1, "strangers": 0, "signals": 1}, box.told(out))
        check("reads", [100, 100, 100], [reads_in(path) for path in logs.glob("log-*.pfw.gz")])
        check("nothing hidden is left", [], list(logs.glob(".*")))
    check("recorded", 300, box.count("name = 'pread'"))


def children_of(pid: int) -> list[Path]:
    return [Path("/proc") / child for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_killed_in_a_namespace(box: Box) -> None:
    """Its pid is that of somebody else where the collector lives: its file is complete when it is gone, and not before
    the others have ended."""
    logs, victim = box.dir / "logs", box.kit.victim("adopts")
    logs.mkdir()
    env = variables(box, logs / "log")

    def complete() -> int:
        return sum(reads_in(path) == 100 for path in logs.glob("log-*.pfw.gz"))

    outside = box.start(victim, "reaps", "stop", env=env)
    box.wait_for("the file of its child", lambda: complete() == 1)
    inside = box.start(*unshared(box), victim, "reaps", "stop", env=env)
    box.wait_for("the file of its child in there", lambda: complete() == 2)
    (first,) = children_of(inside.pid)
    numbers = re.search(r"^NSpid:\t\d+\t1$", (first / "status").read_text(), re.MULTILINE)
    check_true("it is PID 1 in there", numbers is not None)
    os.kill(int(first.name), 9)
    box.finish(inside, None)
    box.wait_for("its file", lambda: complete() == 3)
    check("the others live", None, outside.poll())
    (box.dir / "stop").touch()
    box.finish(outside)
    box.wait_for("the end of the collector", lambda: not list(logs.glob(".*")))
    check("reads", 4, complete())


def test_subreaper(box: Box) -> None:
    """As before. Whoever stands between it and the collector holds next to nothing of its memory, and is waited for."""
    logs, victim = box.dir / "logs", box.kit.victim("adopts")
    logs.mkdir()
    words = [f"{key}={value}" for key, value in variables(box, logs / "log").items()]
    process = box.start(victim, "subreaper", "env", *words, victim, "reaps", "stop")
    box.wait_for("the file of its child", lambda: any(logs.glob("*.pfw.gz")))
    box.wait_for("nobody but the guard", lambda: len(children_of(process.pid)) == 1)
    (guard,) = children_of(process.pid)
    check("its name", "fathom-guard\n", (guard / "comm").read_text())
    status = dict(line.split(":\t", 1) for line in (guard / "status").read_text().splitlines() if ":\t" in line)
    check_true(f"its memory: {status['VmSize']}", int(status["VmSize"].split()[0]) < 4096)
    check("its descriptors", [], list((guard / "fd").iterdir()))
    (box.dir / "stop").touch()
    out, _ = box.finish(process)
    check("what it met", {"own": 1, "strangers": 0, "signals": 1}, box.told(out))
    box.wait_for("the end of the collector", lambda: not list(logs.glob(".*")))
    check("reads", [100, 100], [reads_in(path) for path in logs.glob("log-*.pfw.gz")])
    box.wait_for("the end of the guard", lambda: not guard.exists())

# SPDX-License-Identifier: MIT
"""Scripts and programs made for DataCrumbs: the program under its name, its library, its configurations."""

import json
import os
from pathlib import Path

from kit import INCLUDE, VICTIMS, Box, check, check_true
from notebook import QUESTIONS, answers, lines_of

TURN = "hooks of the kernel"
CONFIG = """name: default
install_dir: build
capture_probes:
  - {name: sys, probe: syscalls, type: header, file: /include/linux/syscalls.h, regex: sys_.*}
  - {name: swap, probe: kprobe, type: header, file: /include/linux/swap.h}
profile:
  interval_sec: 0.1
"""


def program(box: Box) -> Path:
    build = box.kit.build
    source = ("cc", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", VICTIMS / "crumbs.c")
    return box.kit.made(
        "crumbs", *source, f"-L{build}", "-ldatacrumbs", f"-Wl,-rpath,{build}", f"-Wl,-rpath-link,{build}"
    )


def counted(lines: Path, name: str) -> int:
    bracket, *rest = lines.read_text().splitlines()
    check("first line", "[", bracket)
    return sum(line["args"]["freq"] for line in map(json.loads, rest) if line["name"] == name)


def test_start_and_stop(box: Box) -> None:
    """`datacrumbs start CONFIG`, a program that says from when to when, `datacrumbs stop`: its lines in profile.pfw."""
    box.needs_layer("syscall")
    door = box.kit.build / "datacrumbs"
    (box.dir / "default.yaml").write_text(CONFIG)
    env = {"FATHOM_SOCKET": str(box.root / "w.sock")}
    socket = ("--socket", env["FATHOM_SOCKET"])
    said = box.finish(box.start(door, "start", "default.yaml", *socket, "--run_id", "7", env=env), 0)[1]
    check_true(f"what is left out: {said!r}", said.count(b"\n") == 1 and b"swap.h" in said)
    box.run(program(box), env=env)
    box.finish(box.start(door, "stop", env=env), 0)
    check("calls between start and stop", 200, counted(box.dir / "profile.pfw", "getppid"))
    (trace,) = box.dir.glob("fathom-watch-*.fathom")
    sql = "SELECT CAST(sum(calls) AS BIGINT) AS n FROM intervals WHERE name = 'getppid'"
    answer = json.loads(box.fathom("sql", trace, sql, "--format", "json"))
    check("in the recording", 200, answer[0]["n"])
    box.trace = trace
    asked = [[list(row) for row in rows] for rows in box.answers(*QUESTIONS)]
    for number, (by_sql, by_lines) in enumerate(zip(asked, answers(lines_of(box.dir / "profile.pfw")))):
        check(f"the notebook's question {number}", by_sql, by_lines)
    check("a daemon that is gone", 3, box.start(door, "stop", env=env).wait())


def test_without_a_configuration(box: Box) -> None:
    """What DataCrumbs probes by itself: system calls, the kernel below them, and I/O of the C library."""
    box.needs_layer("syscall")
    door = box.kit.build / "datacrumbs"
    env = {"FATHOM_SOCKET": str(box.root / "w.sock")}
    box.finish(box.start(door, "start", "--socket", env["FATHOM_SOCKET"], env=env), 0)
    status = json.loads(box.finish(box.start(box.kit.fathom, "watch", "status", "--format", "json", env=env))[0])
    check_true(f"layers: {status['layers']}", {"syscall", "fs", "pagecache", "block"} <= set(status["layers"]))
    box.run("cat", "/etc/hostname", env=env | {"LD_PRELOAD": str(box.kit.build / "libdatacrumbs_client.so")})
    box.finish(box.start(door, "stop", env=env), 0)
    categories = {line.function.split()[0] for line in lines_of(box.dir / "profile.pfw")}
    check_true(f"categories: {categories}", "sys" in categories)
    if "user" in status["layers"]:
        check_true(f"the C library: {categories}", "c" in categories)


def test_words_for_layers(box: Box) -> None:
    """`default` and `all` are words of the daemon, too; a layer with a question mark is a wish."""
    box.needs_layer("syscall")
    env = {"FATHOM_SOCKET": str(box.root / "w.sock")}
    for layers, wanted in (("default", {"syscall"}), ("all", {"syscall", "sched"}), ("syscall,kernel?", {"syscall"})):
        words = (
            "watch",
            "--layers",
            layers,
            "--socket",
            env["FATHOM_SOCKET"],
            "-o",
            box.root / f"{len(layers)}.fathom",
        )
        daemon = box.start(box.kit.fathom, *words, env=env)
        assert daemon.stdout
        check(f"{layers}: first line", b"ready\n", daemon.stdout.readline())
        status = json.loads(box.finish(box.start(box.kit.fathom, "watch", "status", "--format", "json", env=env))[0])
        check_true(f"{layers}: {status['layers']}", wanted <= set(status["layers"]))
        check(f"{layers}: no more than that", layers == "all", set(status["layers"]) != wanted)
        os.kill(daemon.pid, 15)
        box.finish(daemon, 0)

# SPDX-License-Identifier: MIT
"""Probes on functions: no program ends by them, and what is not known is said, not guessed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from kit import VICTIMS, Box, Skipped, check, check_true
from test_kernel_flavors import without
from test_watch import watching

TURN = "hooks of the kernel"
TIMES = "CAST(sum(calls) AS BIGINT), CAST(sum(dur) AS BIGINT), min(dur_min), max(dur_max), max(len(hist))"
WAYS = ("", "sessions", "sessions,multi")


def probed(box: Box, functions: str, *command: object, options: tuple[str, ...] = ()) -> None:
    """Records functions of a program, which is as it is without."""
    box.needs_layer("syscall")
    alone = box.finish(box.start(*command))
    run = (box.kit.fathom, "run", "-q", "--force", "--layers", "user", "--functions", functions, *options)
    done = box.finish(box.start(*run, "-o", box.trace, "--", *command), status=None)
    if b"layer user cannot be recorded" in done[1]:
        raise Skipped(done[1].decode().strip())
    check("streams", alone, done)


def times(box: Box, name: str) -> tuple[object, ...]:
    """Calls, their time, the shortest, the longest, and how many lengths were told apart."""
    rows = box.rows(f"SELECT {TIMES} FROM intervals WHERE layer = 'user' AND name = '{name}'")
    return rows[0]


def reason(box: Box) -> str:
    return str(box.value("SELECT reason FROM layers WHERE layer = 'user'"))


def untimed(calls: int) -> tuple[object, ...]:
    return (calls, 0, None, None, 0)


def test_functions_left_early(box: Box) -> None:
    """Exceptions pass through, also through C; longjmp leaves; a thread that is cancelled ends its objects."""
    program = box.kit.victim("left")
    names = ("thrower", "passer", "calm", "jumper")
    functions = ",".join([f"{program}:{name}" for name in names] + ["libc.so.6:qsort", "libc.so.6:pause"])
    for way in WAYS if box.kit.full else WAYS[:2]:
        with without(box, way):
            probed(box, functions, program)
        check("calls without times", [untimed(200)] * 3, [times(box, name) for name in names[1:]])
        check("calls of a function of C", untimed(200), times(box, "qsort"))
        check("losses", 0, box.losses())
        check_true(f"said: {reason(box)}", "entry only, times unknown" in reason(box) and "passer" in reason(box))
    said = box.fathom("report", box.trace, "intervals", "--by", "name").decode()
    (line,) = [line for line in said.splitlines() if "calm" in line]
    check_true(f"no time in {line!r}", "ns" not in line and "0" in line)


def test_go(box: Box) -> None:
    """Go moves stacks. (Told by its file, also without what debuggers read.)"""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        raise Skipped("no go here")
    env = {**os.environ, "GOCACHE": str(box.kit.programs / "go-cache"), "GO111MODULE": "off", "GOFLAGS": ""}
    program = box.kit.programs / "stacks"
    if not program.exists():
        made = subprocess.run(
            [go, "build", "-ldflags=-w", "-o", program, VICTIMS / "stacks.go"], capture_output=True, text=True, env=env
        )
        if made.returncode != 0:
            raise Skipped(f"go builds nothing here: {made.stderr}")
    probed(box, f"{program}:^main\\.dive$", program)
    check("calls", untimed(1000), times(box, "main.dive"))
    check_true(f"said: {reason(box)}", "Go moves its stacks" in reason(box))


def test_plain_program(box: Box) -> None:
    """Its functions have times, and so have those of libraries that it calls, where the kernel can tell programs apart;
    `--returns` has them of all."""
    program = box.kit.victim("steady")
    for way in WAYS if box.kit.full else WAYS[:1]:
        with without(box, way):
            probed(box, f"{program}:work,{program}:jumper,libc.so.6:usleep,libc.so.6:malloc", program)
        calls, time, least, most, _ = times(box, "work")
        check_true(f"{calls} calls, {time} ns", calls == 50 and time >= 50_000_000 and 1_000_000 <= least <= most)
        calls, time, *_ = times(box, "usleep")
        check_true(f"usleep: {calls} calls, {time} ns", calls == 50 and (time >= 50_000_000) == (way == ""))
    calls, *_ = times(box, "jumper")
    check("calls that returned, those that were left", (50, 50), (calls, box.losses()))
    left = box.kit.victim("left")
    run = (box.kit.fathom, "run", "-q", "--force", "--layers", "user", "--returns", "-o", box.trace)
    box.finish(box.start(*run, "--functions", f"{left}:calm", "--", left))
    calls, time, least, *_ = times(box, "calm")
    check_true(f"--returns: {calls} calls, {time} ns", calls == 200 and time > 0 and least is not None)


def test_function_that_is_refused(box: Box) -> None:
    """It is named, the others are recorded; also where no process has the file in its memory yet."""
    if os.uname().machine != "x86_64":
        raise Skipped("no such instruction is known here")
    program = box.kit.victim("steady")
    for way in WAYS if box.kit.full else WAYS[:1]:
        with without(box, way):
            probed(box, f"{program}:^(work|locked|main|jumper)$", program)
        check("calls of the others", 50, times(box, "work")[0])
        (loss,) = box.rows("SELECT reason, count FROM losses WHERE reason LIKE '%locked%'")
        check_true(f"counted and named: {loss}", loss[1] == 1 and "first instruction" in str(loss[0]))
        check_true(f"said: {reason(box)}", "not recorded: locked" in reason(box))
    run = (box.kit.fathom, "run", "-q", "--layers", "user", "--functions", f"{program}:locked", "-o", box.root / "x")
    _, said = box.finish(box.start(*run, "--", program), status=3)
    check_true(f"alone, one line: {said!r}", said.count(b"\n") == 1 and b"locked" in said)


def test_functions_with_several_bodies(box: Box) -> None:
    """strlen is one of several that the loader chooses from: calls are counted, not choices."""
    program = box.kit.victim("steady")
    probed(box, "libc.so.6:strlen,libc.so.6:memcpy,libc.so.6:printf", program)
    for name in ("strlen", "memcpy"):
        calls = times(box, name)[0] or 0
        check_true(f"{calls} calls of {name}: {reason(box)}", 500 <= calls <= 900)


def test_names_without_end(box: Box) -> None:
    """A user who touches more files than there is room for leaves that of others alone; every call is counted."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skipped("only root can become another user")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    box.remove.append(folder)
    make = "for i in $(seq {0}); do : > {1}-$i; done"
    users = {4242: 400, 4343: 20}
    with watching(box, "--all", "--user-files", 100, "--user-rows", 1000):
        for user, files in users.items():
            become = ("setpriv", f"--reuid={user}", "--clear-groups")
            box.run(*become, "sh", "-c", make.format(files, folder / f"of-{user}"))
    for user, files in users.items():
        made = f"file LIKE '{folder}/of-{user}-%'"
        calls = f"SELECT coalesce(CAST(sum(calls) AS BIGINT), 0), count(DISTINCT file) FROM intervals WHERE {made}"
        told, names = box.rows(f"{calls} AND name = 'openat'")[0]
        check_true(f"files of {user}: {told} calls on {names}", min(files, 50) <= told == names <= min(files, 100))
    others = "SELECT sum(calls) FROM intervals WHERE file = 'other files' AND name = 'openat'"
    check_true("the others are counted together", int(box.value(others)) >= 300)
    lost = "SELECT sum(count) FROM losses WHERE reason LIKE '%no room for more files%'"
    check_true("and as what is not known", int(box.value(lost)) >= 300)

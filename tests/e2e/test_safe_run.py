# SPDX-License-Identifier: MIT
"""`fathom run` takes nothing of the user's: not his files, not his program under limits, not his signals."""

import ctypes
import os
import signal
from pathlib import Path

from kit import Box, Process, check, check_true


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"" for path in root.rglob("*")}


def refused(box: Box, *command: object) -> str:
    _, err = box.finish(box.start(*command), 3)
    check("lines", 1, err.count(b"\n"))
    return err.decode()


def test_force_keeps_what_others_made(box: Box) -> None:
    """--force of run and import removes recordings alone: what lies beside or in one is named, and everything stays."""
    (box.dir / "trace").write_text("main;work 10\n")
    imports = (box.kit.fathom, "import", "trace", "--format", "collapsed", "--force", "-o")
    runs = (box.kit.fathom, "run", "-q", "--force", "-o")
    project = box.dir / "project"
    for folder in ("src", ".git"):
        (project / folder).mkdir(parents=True)
    (project / "manifest.json").write_text('{"name":"x"}')
    box.record("true")
    (box.trace / "notes.txt").write_text("mine")
    (box.trace / "spool").mkdir()
    for place, name in (
        (project, ".git"),
        (box.trace, "notes.txt"),
        (box.dir, "current directory"),
        (".", "current directory"),
    ):
        kept = tree(box.dir / place)
        for command in ((*runs, place, "--", "true"), (*imports, place)):
            check_true(f"{name} is named", name in refused(box, *command))
            check(f"what lies in {place}", kept, tree(box.dir / place))
    (box.trace / "notes.txt").unlink()
    box.run(*runs, box.trace, "--", "true")
    box.run(*imports, box.trace)
    (box.dir / "empty").mkdir()
    box.run(*imports, "empty")
    check("what import left", [], list(box.dir.glob("*.import-*")))


def limited(box: Box, limit: str, *command: object, options: tuple[str, ...] = ("-q",)) -> Process:
    """`fathom run` where a shell has set a limit, for it and for the program."""
    box.not_emulated("a recorder starts it")
    run = (box.kit.fathom, "run", *options, "-o", box.trace, "--", *command)
    return box.start("sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *run)


def test_a_file_size_limit_is_named(box: Box) -> None:
    """A limit on files ends the recorder's writing and not the recorder; the status is the program's."""
    reads = ("sh", "-c", '"$0" 300000; exit 7', box.kit.victim("reader"))
    _, err = box.finish(limited(box, "-f 200", *reads, options=()), 7)
    check_true(f"the limit is named: {err!r}", b"the file size limit (ulimit -f)" in err)
    info = box.info()
    check(f"state ({info['state_reason']})", "partial", info["state"])
    check_true(f"why: {info['state_reason']!r}", "the file size limit (ulimit -f)" in info["state_reason"])
    seen = box.count("name LIKE '%read%'")
    check_true(f"{seen} reads, {box.losses()} losses", seen >= 300_000 or box.losses() > 0)


def test_a_file_size_limit_is_the_programs_own(box: Box) -> None:
    """The program gets the signal as without us."""
    writes = ("sh", "-c", "exec head -c 1000000 /dev/zero > large")
    box.finish(limited(box, "-f 200", *writes), 128 + signal.SIGXFSZ)
    check("bytes", 200 * 512, (box.dir / "large").stat().st_size)


def test_no_room_to_begin(box: Box) -> None:
    """Where not even the first file fits there is one line, and nothing is left."""
    for blocks in (0, 1, 4):
        _, err = box.finish(limited(box, f"-f {blocks}", "touch", "ran"), 3)
        check("lines", 1, err.count(b"\n"))
        check_true(f"the limit is named: {err!r}", b"the file size limit (ulimit -f)" in err)
        check("what is left", False, box.trace.exists() or (box.dir / "ran").exists())


def test_a_small_stack(box: Box) -> None:
    """The recorder runs beside a stack of a few pages, and the program keeps its own limit."""
    for kibibytes in (24, 32, 64, 100, 512):  # with 16, /bin/true dies of its environment now and then
        script = "test $(ulimit -s) = $(ulimit -Hs) && exit $1"
        box.trace = box.root / f"{kibibytes}.fathom"
        box.finish(limited(box, f"-s {kibibytes}", "sh", "-c", script, "sh", "7"), 7)
        check(f"exit at {kibibytes} KiB", 7, box.info()["exit"])
        box.run("sh", "-c", f'ulimit -s {kibibytes} && exec "$@"', "sh", box.kit.fathom, "report", box.trace)


def test_every_signal_reaches_the_program(box: Box) -> None:
    """Whatever somebody sends to the recorder is the program's, once, with its value; none ends the recorder."""
    box.not_emulated("a recorder starts it")
    own = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL}
    own |= {signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP}
    stopping = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT}
    numbers = sorted(int(number) for number in signal.valid_signals() - own - stopping - {signal.SIGUSR2})
    process = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", box.kit.victim("told"), "all")
    box.wait_for("program", (box.dir / "ready").exists)
    for number in numbers:
        process.send_signal(number)
        box.wait_for(f"signal {number}", (box.dir / f"told-{number:02}").exists)
    libc = ctypes.CDLL(None, use_errno=True)
    told_again = box.dir / f"told-{int(signal.SIGRTMIN)}"
    told_again.unlink()
    check("sigqueue", 0, libc.sigqueue(process.pid, signal.SIGRTMIN, ctypes.c_void_p(41)))
    box.wait_for("a value", told_again.exists)
    process.send_signal(signal.SIGUSR2)
    told = box.told(box.finish(process)[0])
    wanted = {str(number): 1 for number in numbers} | {"12": 1, str(int(signal.SIGRTMIN)): 2}
    check("signals", wanted | {"forwarded": len(numbers) + 2, "values": 41}, told)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]


JOB = """
import os, sys
os.setpgid(0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_stopping_the_recorder_stops_the_program(box: Box) -> None:
    """As Ctrl-Z does, which reaches both: a shell looks after the group here, else nothing would stop."""
    box.not_emulated("a recorder starts it")
    script = "echo $$ > program; touch ready; while :; do sleep 0.05; done"
    command = (box.kit.fathom, "run", "-q", "-o", box.trace, "--", "sh", "-c", script)
    shell = box.start("sh", "-c", 'python3 -c "$0" "$@" & echo $! > recorder; wait $!', JOB, *command)
    box.wait_for("program", (box.dir / "ready").exists)
    recorder, program = (int((box.dir / name).read_text()) for name in ("recorder", "program"))
    for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        os.kill(recorder, number)
        box.wait_for("both stopped", lambda: state_of(recorder) == state_of(program) == "T")
        os.kill(recorder, signal.SIGCONT)
        box.wait_for("both going on", lambda: "T" not in (state_of(recorder), state_of(program)))
    os.kill(recorder, signal.SIGTERM)
    box.finish(shell, 128 + signal.SIGTERM)


def test_a_recorder_in_a_recorder(box: Box) -> None:
    """The inner one leaves no process behind that has to be killed: both recordings are complete."""
    box.not_emulated("a recorder starts it")
    inner = box.root / "inner.fathom"
    box.record(box.kit.fathom, "run", "-q", "-o", inner, "--", "sh", "-c", "exit 7", status=7)
    for trace in (box.trace, inner):
        box.trace = trace
        info = box.info()
        check(f"state of {trace.name} ({info['state_reason']})", "complete", info["state"])


def test_a_directory_is_no_program(box: Box) -> None:
    _, err = box.finish(box.start(box.kit.fathom, "run", "-o", box.trace, "--", "/etc"), 126)
    check_true(f"what it is: {err!r}", b"/etc is a directory" in err and b"chmod" not in err)

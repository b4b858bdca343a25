# SPDX-License-Identifier: MIT
"""`fathom run` takes nothing of the user's: not his files, not his program under limits, not his signals."""

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

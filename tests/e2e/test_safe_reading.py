# SPDX-License-Identifier: MIT
"""A recording that somebody sent: looking at it changes nothing, follows no link, and always ends."""

import contextlib
import gzip
import json
import multiprocessing
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jobs import alone
from kit import Box, Failure, Skipped, check, check_true

sys.path.append(str(Path(__file__).resolve().parent.parent / "formats"))

import duck

COUNT = "SELECT count(*) AS n FROM events"
READERS: tuple[tuple[str, ...], ...] = (
    ("info", "TRACE", "--format", "json"),
    ("sql", "TRACE", COUNT, "--format", "csv"),
    ("report", "TRACE"),
    ("report", "TRACE", "tree"),
    ("show", "TRACE"),
    ("export", "TRACE", "--format", "chrome", "-o", "-"),
    ("diff", "TRACE", "TRACE"),
)
CANARY = b"nobody may touch these bytes\n" * 40
PATIENCE_S = 60


def asked(box: Box, trace: Path, command: tuple[str, ...]) -> tuple[int, bytes, bytes]:
    """What a command says of a recording: an answer, or a no in one line, in time."""
    words = [str(box.kit.fathom), *(str(trace) if word == "TRACE" else word for word in command)]
    try:
        done = subprocess.run(words, cwd=box.dir, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise Failure(f"no end within {PATIENCE_S} s: {words}") from None
    check_true(f"{words}: status {done.returncode}, {done.stderr!r}", done.returncode in (0, 1, 3))
    if done.returncode == 3:
        check_true(f"{words}: one line {done.stderr!r}", done.stderr.count(b"\n") == 1)
    return done.returncode, done.stdout, done.stderr


def state_of(directory: Path) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(directory.rglob("*")):
        facts = path.lstat()
        small = stat.S_ISREG(facts.st_mode) and facts.st_size < 1 << 30
        content = path.read_bytes() if small else None
        found[str(path.relative_to(directory))] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, content)
    return found


def copied(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target


def unpacked(box: Box) -> Path:
    """A spool that nobody packed, of three processes."""
    for _ in range(3):
        box.run(box.kit.victim("storm"), 2, 3, 200, env=box.unsupervised())
    return copied(box.trace, box.root / "sent")


def interrupted(box: Box) -> Path:
    """What a recorder leaves that was killed with its program: a manifest, logs, pools."""
    script = f"echo $$ > program; exec {box.kit.victim('reader')} 100000000"
    recorder = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", "sh", "-c", script)
    logs = box.trace / "spool"
    box.wait_for("a log", lambda: any(log.stat().st_size > 1 << 17 for log in logs.glob("drained-*.log")))
    recorder.kill()
    program = int((box.dir / "program").read_text())
    os.kill(program, signal.SIGKILL)
    box.wait_for("the end of the program", lambda: is_gone(program))
    return copied(box.trace, box.root / "sent")


def is_gone(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    return True


def files_of(trace: Path) -> list[Path]:
    return [path for path in sorted(trace.rglob("*")) if path.is_file()]


def test_looking_changes_nothing(box: Box) -> None:
    sent = unpacked(box)
    before = state_of(sent)
    for command in READERS:
        check(f"status of {command}", 0, asked(box, sent, command)[0])
        check(f"the recording after {command}", before, state_of(sent))
    counted = asked(box, sent, READERS[1])[1]
    box.fathom("collect", "-q", sent)
    check("nothing is left to be packed", False, (sent / "spool").exists())
    check("events when packed", counted, asked(box, sent, READERS[1])[1])


def test_collect_packs_recordings_below(box: Box) -> None:
    """What every command did before: a directory of recordings is packed at one stroke."""
    sent = unpacked(box)
    together = box.root / "together"
    for name in ("a", "b"):
        copied(sent, together / name)
    counted = asked(box, together, READERS[1])[1]
    box.fathom("collect", "-q", together)
    check("spools", [], list(together.glob("*/spool")))
    check("events", counted, asked(box, together, READERS[1])[1])


def test_who_may_only_read(box: Box) -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skipped("only root can act as another user")
    sent = unpacked(box)
    place = Path(tempfile.mkdtemp(prefix="fathom-safe-"))
    box.remove.append(place)
    place.chmod(0o755)
    theirs = copied(sent, place / "sent")
    for path in (theirs, *theirs.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*user, "test", "-x", box.kit.fathom]).returncode != 0:
        raise Skipped("the build lies where other users cannot enter")
    before = state_of(theirs)
    command = [*user, box.kit.fathom, "sql", theirs, COUNT, "--format", "csv"]
    check("events", asked(box, sent, READERS[1])[1], box.run(*command))
    check("the recording", before, state_of(theirs))
    said = box.finish(box.start(*user, box.kit.fathom, "collect", "-q", theirs), status=3)[1]
    check_true(f"who packs: {said!r}", b"belongs to another user" in said)


def strange(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "device":
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    elif kind == "endless":
        path.touch()
        os.truncate(path, 1 << 40)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as holder:
            holder.bind(str(path))
    else:
        path.symlink_to(kind)


def spoilt(box: Box, sent: Path, kind: str) -> Iterator[tuple[str, Path]]:
    """Copies in which one file is something else; those of a kind stand for each other, but for --full."""
    seen: set[str] = set()
    for path in files_of(sent):
        sort = path.suffix or path.name.split("-")[0]
        if sort in seen and not box.kit.full:
            continue
        seen.add(sort)
        bad = copied(sent, box.root / "bad")
        strange(bad / path.relative_to(sent), kind)
        yield str(path.relative_to(sent)), bad


def test_links(box: Box) -> None:
    sent = interrupted(box)
    trap = box.root / "trap"
    trap.mkdir()
    (trap / "canary").write_bytes(CANARY)
    before = state_of(trap)
    for name, bad in spoilt(box, sent, str(trap / "canary")):
        for command in READERS[:2]:
            status, out, _ = asked(box, bad, command)
            check_true(f"{name} a link: told", status == 3 or command[0] != "info" or b'"complete"' not in out)
        subprocess.run([box.kit.fathom, "collect", "-q", bad], capture_output=True, timeout=PATIENCE_S)
        check(f"behind the link at {name}", before, state_of(trap))
    for name in ("lock", "publish.lock", "definitions.log", "events-0.parquet", "drained-1.log"):
        bad = copied(sent, box.root / "bad")
        (bad / "spool" / name).unlink(missing_ok=True)
        (bad / "spool" / name).symlink_to(trap / "made")
        asked(box, bad, READERS[1])
        subprocess.run([box.kit.fathom, "collect", "-q", bad], capture_output=True, timeout=PATIENCE_S)
        check(f"what a dangling link at {name} makes", before, state_of(trap))


def test_spool_as_link(box: Box) -> None:
    sent = interrupted(box)
    (sent / "spool").rename(box.root / "elsewhere")
    before = state_of(box.root / "elsewhere")
    (sent / "spool").symlink_to(box.root / "elsewhere")
    info = json.loads(asked(box, sent, READERS[0])[1])
    check("state", "partial", info["state"])
    asked(box, sent, ("collect", "-q", "TRACE"))
    check("behind the link", before, state_of(box.root / "elsewhere"))


def test_strange_files(box: Box) -> None:
    sent = interrupted(box)
    kinds = ["FIFO", "directory", "socket", "endless"] + (["device"] if os.geteuid() == 0 else [])
    for kind in kinds:
        for name, bad in spoilt(box, sent, kind):
            status, out, _ = asked(box, bad, READERS[0])
            check_true(f"{name} as {kind}: never complete", status == 3 or b'"complete"' not in out)
            asked(box, bad, READERS[1])


@alone("must end within seconds")
def test_false_heads(box: Box) -> None:
    """A log of heads without bodies costs no more than its size."""
    sent = interrupted(box)
    log = next(iter(sent.glob("spool/drained-*.log")))
    head = bytearray(log.read_bytes()[:40])
    head[32:36] = (4 << 20).to_bytes(4, "little")
    log.write_bytes(bytes(head) * ((12 << 20) // 40))
    begin = time.monotonic()
    asked(box, sent, READERS[1])
    check_true(f"took {time.monotonic() - begin:.1f} s", time.monotonic() - begin < 20)


def test_what_is_missing_is_told(box: Box) -> None:
    box.record(box.kit.victim("reader"), 10_000)
    check("state", "complete", box.info()["state"])
    for path in sorted(box.trace.glob("*.parquet")):
        bad = copied(box.trace, box.root / "bad")
        (bad / path.name).unlink()
        info = json.loads(asked(box, bad, READERS[0])[1])
        check(f"state without {path.name}", "partial", info["state"])
    sent = unpacked_anew(box)
    whole = asked(box, sent, READERS[1])[1]
    for path in files_of(sent):
        for length in (0, path.stat().st_size // 2):
            bad = copied(sent, box.root / "bad")
            os.truncate(bad / path.relative_to(sent), length)
            status, out, _ = asked(box, bad, READERS[0])
            told = status == 3 or b'"complete"' not in out
            check_true(f"{path.name} cut to {length}", told or asked(box, bad, READERS[1])[1] == whole)


def unpacked_anew(box: Box) -> Path:
    shutil.rmtree(box.trace)
    return unpacked(box)


def test_modules_of_others_are_not_opened(box: Box) -> None:
    """A function's module is looked at for a recording of our own alone, and as it was."""
    if os.geteuid() != 0 or not shutil.which("strace"):
        raise Skipped("needs root and strace")
    module = box.dir / "module"
    shutil.copy(box.kit.victim("functions", "-finstrument-functions", "-rdynamic"), module)
    box.run(module, 10, env=box.unsupervised())
    names = "SELECT string_agg(DISTINCT name, ' ' ORDER BY name) FROM events WHERE category = 'function'"
    check_true(f"named: {box.value(names)}", "leaf" in str(box.value(names)))
    replaced = module.read_bytes()
    module.unlink()
    module.write_bytes(replaced)
    check_true(f"not named by another file: {box.value(names)}", "module+0x" in str(box.value(names)))
    for path in (box.trace, *box.trace.rglob("*")):
        os.chown(path, 65534, 65534)
    log = box.root / "strace"
    for command in (("sql", box.trace, names), ("collect", "-q", box.trace)):
        tracer = ["strace", "-f", "-qq", "-e", "trace=open,openat,openat2,stat", "-o", log]
        box.finish(box.start(*tracer, box.kit.fathom, *command), status=None)
        touched = [line for line in log.read_text(errors="replace").splitlines() if f'"{module}"' in line]
        check(f"{command[0]} looks at the module", [], touched)


def test_links_among_recordings(box: Box) -> None:
    sent = unpacked(box)
    together = box.root / "together"
    copied(sent, together / "a")
    alone = asked(box, together, READERS[1])[1]
    (together / "b").symlink_to(sent)
    check("a link beside a recording", alone, asked(box, together, READERS[1])[1])


def test_reading_beside_a_recorder(box: Box) -> None:
    """Answers grow while a recorder drains and packs, and none is wrong; nothing is left behind by the reader."""
    recorder = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", box.kit.victim("reader"), 700_000)
    box.wait_for("a log", lambda: any((box.trace / "spool").glob("drained-*.log")))
    counts: list[int] = []
    sums = "SELECT (SELECT count(*) FROM events), (SELECT coalesce(sum(calls), 0) FROM summary)"
    while recorder.poll() is None:
        status, out, _ = asked(box, box.trace, ("sql", "TRACE", sums, "--format", "csv"))
        check("status", 0, status)
        events, calls = (int(word) for word in out.split()[-1].split(b","))
        check("events and their sum", events, calls)
        counts.append(events)
    check("answers grow", sorted(counts), counts)
    check_true(f"there were answers: {counts}", bool(counts))


def test_interrupt(box: Box) -> None:
    """Ctrl-C ends a reader that decodes, and nothing stays in the temporary directory."""
    sent = interrupted(box)
    scratch = box.root / "scratch"
    scratch.mkdir()
    for number in (signal.SIGINT, signal.SIGTERM):
        reader = box.start(
            box.kit.fathom, "export", sent, "--format", "chrome", "-o", "-", env={"TMPDIR": str(scratch)}
        )
        time.sleep(0.3)
        reader.send_signal(number)
        box.finish(reader, status=None)
        check(f"left in the temporary directory after {number.name}", [], list(scratch.iterdir()))


LIMIT = 256 << 20
BESIDE = 384 << 20  # programs and libraries, what a question may have beside its limit, and what came before a look
SMALL_MACHINE = f'mount -t tmpfs none /sys/fs/cgroup && echo {2 * LIMIT} > /sys/fs/cgroup/memory.max && exec "$@"'


def with_long_names(box: Box) -> None:
    """A file of some kilobytes: 300 events, of which each has one of eight names of 8 MB."""
    box.record(box.kit.victim("reader"), 1000)
    path = box.trace / "events-0.parquet"
    # In a process of its own: what is started next would begin with the memory of this one as its peak.
    writer = multiprocessing.Process(target=write_long_names, args=(box.kit.build / "libduckdb.so", path))
    writer.start()
    writer.join()
    check("status of the writer", 0, writer.exitcode)
    check_true(f"it is small: {path.stat().st_size}", path.stat().st_size < 1 << 20)


def write_long_names(library: Path, path: Path) -> None:
    name = "repeat(chr(97 + (row_number() OVER () % 8)::INT), 8000000) AS name"
    with duck.Database(library) as database:
        rows = f"SELECT * REPLACE ({name}) FROM (FROM '{path}' LIMIT 300)"
        database.rows(f"COPY ({rows}) TO '{path}.new' (FORMAT parquet, CODEC zstd)")
    Path(f"{path}.new").rename(path)


def check_memory(box: Box, *words: object) -> int:
    """The status of a command that keeps to the limit."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(list(map(str, words)), cwd=box.dir, stdout=subprocess.DEVNULL, stderr=said)
        _, ended, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        said.seek(0)
        err = said.read()
    check_true(f"{words}: {usage.ru_maxrss >> 10} MiB", usage.ru_maxrss << 10 < LIMIT + BESIDE)
    check_true(f"{words}: status {process.returncode}, {err!r}", process.returncode in (0, 3))
    if process.returncode == 3:
        check_true(f"one line about memory: {err!r}", err.count(b"\n") == 1 and b"memory" in err)
    return process.returncode


def test_long_names_take_no_more_than_the_limit(box: Box) -> None:
    """Texts that are packed well: the limit is the whole command's, not the database's alone."""
    box.not_emulated("a recorder starts it")
    with_long_names(box)
    memory = f"--memory={LIMIT}"
    lists = "SELECT list(name) FROM events"
    check("tree", 3, check_memory(box, box.kit.fathom, "report", box.trace, "tree", memory))
    check("sql", 3, check_memory(box, box.kit.fathom, "sql", box.trace, lists, memory))
    small = ["unshare", "-m", "sh", "-c", SMALL_MACHINE, "sh"]
    if subprocess.run([*small, "true"], capture_output=True).returncode != 0:
        raise Skipped("no right to mount here: only commands with --memory were tried")
    for command in READERS:
        words = [box.trace if word == "TRACE" else word for word in command]
        check_memory(box, *small, box.kit.fathom, *words)
    check("export", 3, check_memory(box, *small, box.kit.fathom, "export", box.trace, "--format", "chrome", "-o", "-"))


def test_a_file_that_unpacks_to_a_whole_disk(box: Box) -> None:
    """An import stops at half of the free space, or at --max-size, says so, and leaves nothing behind."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("a mount namespace needs root and unshare")
    event = '{{"name":"read","cat":"POSIX","pid":7,"tid":8,"ts":{},"dur":{},"ph":"X","args":{{"fname":"/x/{}"}}}}\n'
    lines = [event.format(number * 7, number * number % 1009, hash(str(number))) for number in range(60_000)]
    (box.dir / "large.pfw.gz").write_bytes(gzip.compress("".join(["[\n", *lines]).encode()))
    script = """
        mkdir small && mount -t tmpfs -o size=1m none small
        status=0; TMPDIR=$PWD/small "$FATHOM" report large.pfw.gz || status=$?
        ls -A small; exit $status
    """
    process = box.start("unshare", "-m", "sh", "-ec", script, env={"FATHOM": str(box.kit.fathom)})
    left, words = box.finish(process, 3)
    check("left in TMPDIR", b"", left)
    check_true(f"{words!r} says what to do", b", half of the free space there; " in words and b"--max-size" in words)
    box.fathom("import", "large.pfw.gz", "--max-size", "100k", "-o", box.trace, status=3)
    check("left of the import", [], [path for path in box.root.iterdir() if "trace.fathom" in path.name])
    box.fathom("import", "large.pfw.gz", "--max-size", "100M", "-o", box.trace)
    box.fathom("import", "large.pfw.gz", "--max-size", "much", "-o", box.trace, status=2)

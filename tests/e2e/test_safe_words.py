# SPDX-License-Identifier: MIT
"""What is recorded is its user's alone, names steer no terminal, and questions have limits."""

import csv
import io
import json
import os
import re
import shutil
import signal
import stat
import time
from pathlib import Path

from jobs import alone
from kit import Box, Failure, Process, Skipped, check, check_true

HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f\udc80-\udcff]"
)
NAMES = (
    "colour-\x1b[31m",
    "title-\x1b]0;owned\x07",
    "c1-\u009b31m\u009d0;x\u009c",
    "turn-\u202egnp.exe\u2066\u2069\u200f",
    "hidden-\u200b\ufeff\U000e0041",
    "line-\nfathom: all is well",
    "lines-\u2028\u2029\x85",
)
RAW = b"bytes-\x9b31m-\xff\xfe"
SECRET = "hunter2-moat-lantern"
ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1"


def under_umask(mask: str, *command: object) -> tuple[object, ...]:
    return ("sh", "-c", f'umask {mask} && exec "$@"', "sh", *command)


def modes(directory: Path) -> dict[str, str]:
    """What has other rights than its kind should: directories 0700, files 0600."""
    found = {}
    for path in (directory, *directory.rglob("*")):
        facts = path.lstat()
        wanted = 0o700 if stat.S_ISDIR(facts.st_mode) else 0o600
        if stat.S_IMODE(facts.st_mode) != wanted:
            found[str(path.relative_to(directory.parent))] = oct(stat.S_IMODE(facts.st_mode))
    return found


def small_recording(box: Box) -> None:
    box.record("cat", "/etc/hostname", options=("--layers", "posix"))


def test_private_whatever_the_umask(box: Box) -> None:
    """Recordings of run, collect and import are private under every umask, and exports are as the umask says."""
    box.not_emulated("the recorder makes the files")
    foreign = box.dir / "foreign.txt"
    foreign.write_text("main;work 10\n")
    for mask in ("0", "022", "0777"):
        trace, imported = box.root / f"run-{mask}.fathom", box.root / f"import-{mask}.fathom"
        box.run(*under_umask(mask, box.kit.fathom, "run", "-q", "-o", trace, "--", "cat", foreign))
        check(f"run, umask {mask}", {}, modes(trace))
        box.run(*under_umask(mask, box.kit.fathom, "import", foreign, "--format", "collapsed", "-o", imported))
        check(f"import, umask {mask}", {}, modes(imported))
    alone = {"LD_PRELOAD": str(box.kit.library), "FATHOM_OUT": str(box.trace)}
    box.run(*under_umask("0", "cat", foreign), env=alone)
    check("unsupervised", {}, modes(box.trace))
    box.run(*under_umask("0", box.kit.fathom, "collect", "-q", box.trace))
    check("collect", {}, modes(box.trace))
    out = box.dir / "out.csv"
    box.run(*under_umask("027", box.kit.fathom, "export", box.trace, "--format", "csv", "-o", out))
    check("export", 0o640, stat.S_IMODE(out.stat().st_mode))


def test_share(box: Box) -> None:
    """A group reads what is shared with it; nobody shares with a group that he is not in."""
    box.not_emulated("the recorder makes the files")
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("changing users needs root and setpriv")
    group = 54321
    small_recording(box)
    before = box.fathom("info", box.trace, "--format", "json")
    for way in ("run", "import", "collect"):
        trace = box.root / f"{way}.fathom"
        if way == "run":
            box.run(box.kit.fathom, "run", "-q", "--share", group, "-o", trace, "--", "true")
        elif way == "import":
            (box.dir / "f.txt").write_text("main;work 10\n")
            box.fathom("import", box.dir / "f.txt", "--format", "collapsed", "-o", trace, "--share", group)
        else:
            box.run("true", env={"LD_PRELOAD": str(box.kit.library), "FATHOM_OUT": str(trace)})
            box.fathom("collect", "-q", trace, "--share", group)
        facts = {
            (path.lstat().st_gid, stat.S_IMODE(path.lstat().st_mode) & 0o777, path.is_dir())
            for path in (trace, *trace.rglob("*"))
        }
        check(way, {(group, 0o750, True), (group, 0o640, False)}, facts)
    check_true("the private one is told as before", before == box.fathom("info", box.trace, "--format", "json"))
    stranger = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    place = Path(box.root / "theirs")
    place.mkdir()
    process = box.start(*stranger, box.kit.fathom, "run", "--share", group, "-o", place / "x", "--", "true")
    _, err = box.finish(process, None)
    if b"Permission denied" not in err and process.returncode != 126:
        check("status", 2, process.returncode)
        check_true(err.decode(), b"not in group" in err)
    box.fathom("run", "--share", "no-such-group", "-o", place / "x", "--", "true", status=2)


def test_no_command(box: Box) -> None:
    """Neither arguments nor environment of programs are anywhere in the recording, while it is made and after."""
    box.not_emulated("options of the recorder")
    env = {"SERVICE_TOKEN": SECRET, "SLURM_JOB_NAME": SECRET}
    script = f'cat "$FATHOM_OUT"/spool/*.pool > copy; sh -c "exit 0" {SECRET}'
    command = ("sh", "-c", script, f"--password={SECRET}")
    process = box.start(box.kit.fathom, "run", "-q", "--no-command", "-o", box.trace, "--", *command, env=env)
    box.finish(process)
    raw = [path.name for path in box.trace.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    check("files that hold it", [], raw)
    copy = (box.dir / "copy").read_bytes()
    check_true("pools were there while it ran", len(copy) > 0)
    check("the pools hold it", False, SECRET.encode() in copy)
    check("programs are named all the same", True, box.value("SELECT count(*) FROM processes WHERE command = 'sh'") > 0)
    check("the run has its program", ["sh"], json.loads((box.trace / "manifest.json").read_text())["command"])
    box.trace = box.root / "told.fathom"
    box.finish(box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", *command, env=env))
    check_true("without the option it is told", SECRET in box.value("SELECT command FROM processes ORDER BY start"))


def harm(text: bytes) -> list[str]:
    return [line for line in text.decode("utf-8", "surrogateescape").split("\n") if HARMFUL.search(line)]


def test_names_steer_no_terminal(box: Box) -> None:
    """Tables, Markdown, CSV, JSON, the summary of a run and messages show names; none is obeyed, none makes a line."""
    box.not_emulated("the summary is the recorder's")
    for name in (*map(os.fsencode, NAMES), RAW):
        Path(os.fsdecode(os.fsencode(box.dir) + b"/" + name)).write_bytes(b"x")
    victims = [os.fsencode(name) for name in NAMES] + [RAW]
    command = [box.kit.fathom, "run", "-o", box.trace, "--", "cat", *map(os.fsdecode, victims)]
    _, summary = box.finish(box.start(*command))
    texts = {"summary": summary}
    for form in ("table", "md", "csv", "json"):
        for words in (["info"], ["report"], ["report", "files"], ["report", "processes"], ["report", "tree"]):
            texts[f"{words} {form}"] = box.fathom(words[0], box.trace, *words[1:], "--format", form)
        query = 'SELECT DISTINCT file AS "a\x1b[1m" FROM events UNION SELECT command FROM processes'
        texts[f"sql {form}"] = box.fathom("sql", box.trace, query, "--format", form)
    check("texts with something harmful", {}, {name: harm(text)[:1] for name, text in texts.items() if harm(text)})
    forged = [n for n, text in texts.items() if b"\nfathom: all is well" in text and not n.endswith("csv")]
    check("texts with a forged line", [], forged)
    for name in NAMES:
        for words in (["info", name], [name], ["run", "-o", "x", "--", name], ["sql", box.trace, f'SELECT "{name}"']):
            process = box.start(box.kit.fathom, *words)
            _, err = box.finish(process, None)
            check(f"harm of {words!r}", [], harm(err))
            check(f"lines of {words!r}", 1, err.count(b"\n"))
    found = {Path(row[0]).name for row in box.rows("SELECT DISTINCT file FROM events WHERE file IS NOT NULL")}
    check("names that JSON lost", [], [name for name in NAMES if name not in found])


def test_safe_csv(box: Box) -> None:
    """Formulas are text to pandas and DuckDB, and no formula to a spreadsheet that is asked for."""
    small_recording(box)
    texts = ["=1+1", "+1+1", "-1+1", "@SUM(1)", " =1", "\t=1", "\uff1d1", "-5", "plain"]
    values = ", ".join(f"('{text}')" for text in texts)
    query = f"SELECT t FROM (VALUES {values}) AS v(t)"

    def cells(*options: str) -> list[str]:
        text = box.fathom("sql", box.trace, query, "--format", "csv", *options).decode()
        return [row[0] for row in csv.reader(io.StringIO(text))][1:]

    check("cells", texts, cells())
    check("safe cells", [t if t in ("-5", "plain") else "'" + t for t in texts], cells("--safe-csv"))
    box.fathom("sql", box.trace, "SELECT 1", "--safe-csv", status=2)
    box.fathom("export", box.trace, "--format", "pfw", "-o", box.dir / "x", "--safe-csv", status=2)


def spilled(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


@alone("must end within seconds")
def test_questions_end(box: Box) -> None:
    """Time, memory and signals end a question at once, with one line, and nothing is left in $TMPDIR."""
    small_recording(box)
    place = box.root / "tmp"
    place.mkdir()
    env = {"TMPDIR": str(place)}

    def ask(query: str, *options: str) -> Process:
        return box.start(box.kit.fathom, "sql", box.trace, query, "--format", "csv", *options, env=env)

    def one_line(process: Process, word: bytes) -> None:
        _, err = box.finish(process, 3)
        check_true(f"{err!r} is one line with {word!r}", err.count(b"\n") == 1 and word in err.lower())

    begun = time.monotonic()
    one_line(ask(ENDLESS, "--timeout", "1s"), b"time")
    check_true("in time", time.monotonic() - begun < 30)
    one_line(ask("SELECT length(repeat('x', 1500000000))", "--memory", "100MB"), b"memory")
    one_line(ask("SELECT len(list(range)) FROM range(100000000)", "--memory", "100MB"), b"memory")
    for number in (signal.SIGINT, signal.SIGTERM):
        sort = "SELECT a.range + b.range AS x FROM range(100000) a, range(100000) b ORDER BY x DESC, random()"
        process = ask(sort, "--memory", "100MB", "--limit", "1")
        box.wait_for("spilled file", lambda: any(path.is_file() for path in place.rglob("*")))
        check("mode of what is spilled", {0o700}, {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()})
        sent = time.monotonic()
        process.send_signal(number)
        box.finish(process, -number)
        check_true("at once", time.monotonic() - sent < 15)
        check("left behind", [], spilled(place))
    for option in ("--timeout", "--memory"):
        for value in ("0", "-1s", "soon", "5 parsecs", "", "inf", "nan"):
            box.fathom("sql", box.trace, "SELECT 1", f"{option}={value}", status=2)
    within = ask("SELECT 1 AS x", "--memory", "1GB", "--timeout=1h")
    check("a question within its limits", b"x\n1\n", box.finish(within)[0])
    check("left behind", [], spilled(place))


def test_output_that_waits_is_no_time_of_the_question(box: Box) -> None:
    """Rows wait for whoever reads them: a pager is not cut off by --timeout."""
    small_recording(box)
    process = box.start(
        box.kit.fathom, "sql", box.trace, "SELECT range FROM range(300000)", "--format", "csv", "--timeout", "2s"
    )
    if process.stdout is None:
        raise Failure("no pipe")
    first = os.read(process.stdout.fileno(), 10)  # nothing is kept in a buffer of Python's
    time.sleep(3)
    rest, err = process.communicate(timeout=60)
    check("status, stderr", (0, b""), (process.returncode, err))
    check("rows", 300001, (first + rest).count(b"\n"))

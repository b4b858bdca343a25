# SPDX-License-Identifier: MIT
"""Jobs without a server: made, filled, shown, dumped, cleared; new kinds of records; profiling-framework's files."""

import csv
import io
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kit import Box, Skipped, check, check_true

ROWS = [("f", "a.out", "cycles", 10), ('work<int, "x">', "a b", "cache-misses:u", 2**53 + 1)]
RECORD = {"command": ["./solve", "-n", "2"], "host": "north", "machine": {"cores": 2}, "revision": "r1"}
LOSS = {"type": "object", "required": ["epoch", "loss"], "properties": {"epoch": {"type": "integer"}}}


def home(box: Box) -> dict[str, str]:
    """A home of its own, in which no server and no store of the user's is found."""
    place = box.root / "home"
    place.mkdir(exist_ok=True, mode=0o700)
    return {"HOME": str(place), "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "", "FATHOM_SERVER": ""}


def fathom(box: Box, *words: object, stdin: bytes = b"", status: int = 0) -> tuple[bytes, bytes]:
    """A command in that home, with something to read."""
    done = subprocess.run(
        [str(word) for word in (box.kit.fathom, *words)],
        input=stdin,
        env={**os.environ, **home(box)},
        cwd=box.dir,
        capture_output=True,
        timeout=120,
        check=False,
    )
    check(f"status of {words!r} (stderr {done.stderr[-300:]!r})", status, done.returncode)
    return done.stdout, done.stderr


def told(box: Box, *words: object) -> Any:
    return json.loads(fathom(box, *words, "--format", "json")[0])


def refused(box: Box, *words: object, stdin: bytes = b"", status: int = 3) -> str:
    out, err = fathom(box, *words, stdin=stdin, status=status)
    check(f"stdout of {words!r}", b"", out)
    check_true(f"one line on stderr: {err!r}", err.startswith(b"fathom: ") and err.count(b"\n") == 1)
    return err.decode()


def lines(*rows: tuple[str, str, str, int]) -> bytes:
    keys = ("node", "exec", "event", "count")
    return "".join(json.dumps(dict(zip(keys, row))) + "\n" for row in rows).encode()


def run_of(wall: float, cycles: int = 5) -> dict[str, Any]:
    return {"exit": 0, "wall": wall, "events": {"cycles": {"value": cycles, "unit": "", "coverage": 1}}}


def filled(box: Box, job: str = "nightly") -> None:
    fathom(box, "job", "create", job, "--info", "größe, with spaces")
    fathom(box, "agent", "profile", "--job", job, "--stdin", stdin=lines(*ROWS))
    records = [
        {**RECORD, "time": f"2026-01-0{day}T00:00:00Z", "runs": [run_of(day), run_of(day + 0.5)]} for day in (1, 2)
    ]
    text = "".join(json.dumps(record) + "\n" for record in records)
    fathom(box, "job", "add", job, "benchmark", "--stdin", stdin=text.encode())


def test_life_of_a_job(box: Box) -> None:
    """One user needs no server: each command tells what is there; a name that is taken, or none, is refused."""
    check("jobs of a new user", [], told(box, "job", "list"))
    filled(box)
    fathom(box, "job", "create", "2001")
    check(
        "jobs",
        [("2001", "", 0), ("nightly", "größe, with spaces", 2)],
        [tuple(j.values()) for j in told(box, "job", "list")],
    )
    check(
        "a job",
        ("nightly", 2),
        (told(box, "job", "info", "nightly")["name"], told(box, "job", "info", "nightly")["benchmarks"]),
    )
    profile = told(box, "job", "show", "nightly", "--profile")
    check("profile", sorted(ROWS), sorted(tuple(row.values()) for row in profile))
    walls = [[run["wall"] for run in record["runs"]] for record in told(box, "job", "show", "nightly", "--benchmarks")]
    check("walls", [[1, 1.5], [2, 2.5]], walls)
    page = fathom(box, "job", "show", "nightly")[0].decode()
    check_true(f"both in the page: {page!r}", "work<int" in page and "./solve -n 2" in page)
    fathom(box, "job", "clear", "nightly")
    check("after clear", [], told(box, "job", "show", "nightly", "--benchmarks"))
    check("profile after clear", 2, len(told(box, "job", "show", "nightly", "--profile")))
    fathom(box, "job", "clear", "nightly", "--profile")
    check("profile after clear --profile", [], told(box, "job", "show", "nightly", "--profile"))
    check_true("no yes", "--yes" in refused(box, "job", "remove", "nightly", status=2))
    fathom(box, "job", "remove", "nightly", "--yes")
    check("jobs", ["2001"], [job["name"] for job in told(box, "job", "list")])


def test_refusals(box: Box) -> None:
    """Names that could be paths or options, jobs that there are or are not, options that mean nothing."""
    fathom(box, "job", "create", "there")
    check_true("exists", "already" in refused(box, "job", "create", "there"))
    for name in ("../x", "a/b", "", "a b", "x" * 65, "--yes", "a\nb", ".."):
        refused(box, "job", "create", "--", name)
    for words in (("info",), ("show", "--profile"), ("clear",), ("remove", "--yes"), ("show", "--trend")):
        refused(box, "job", words[0], "ghost", *words[1:])
    refused(box, "job", "compare", "there", "ghost")
    for words in (
        ("remove", "there", "--file", "x"),
        ("list", "there"),
        ("shoe", "there"),
        ("create",),
        ("show", "there", "--file", "x"),
    ):
        refused(box, "job", *words, status=2)
    check("jobs", ["there"], [job["name"] for job in told(box, "job", "list")])


def test_files(box: Box) -> None:
    """--file writes profiling-framework's lines, CSV or Parquet, by the name; the numbers are the same in all."""
    filled(box)
    for ending in ("txt", "csv", "parquet"):
        fathom(box, "job", "show", "nightly", "--profile", "--file", f"p.{ending}")
        fathom(box, "job", "show", "nightly", "--benchmarks", "--file", f"b.{ending}")
    nodes = [json.loads(line) for line in (box.dir / "p.txt").read_text().splitlines()]
    got = {
        (node, f["execname"], e): int(f[e]) for line in nodes for node, f in line.items() for e in f if e != "execname"
    }
    check("lines of nodes", {row[:3]: row[3] for row in ROWS}, got)
    table = list(csv.DictReader(io.StringIO((box.dir / "p.csv").read_text())))
    check(
        "rows of CSV",
        {row[:3]: str(row[3]) for row in ROWS},
        {(r["node"], r["exec"], r["event"]): r["count"] for r in table},
    )
    times = [json.loads(line)["Exectime"] for line in (box.dir / "b.txt").read_text().splitlines()]
    check("repetitions", ["1", "1.5", "2", "2.5"], times)
    with (box.dir / "b.csv").open() as file:
        runs = list(csv.DictReader(file))
    wanted = [(record, run, "./solve -n 2") for record in "01" for run in "01"]
    check("runs", wanted, [(run["record"], run["run"], run["command"]) for run in runs])
    for name, magic in (("p.parquet", b"PAR1"), ("b.parquet", b"PAR1")):
        data = (box.dir / name).read_bytes()
        check(f"magic of {name}", (magic, magic), (data[:4], data[-4:]))
    check("no drafts", [], list(box.dir.glob("*.tmp")))


def test_a_new_kind_of_record(box: Box) -> None:
    """Registered with a schema, checked, stored, listed, shown, dumped and cleared like the built-in one."""
    fathom(box, "job", "create", "train")
    (box.dir / "loss.json").write_text(json.dumps(LOSS))
    check_true(
        "unknown kind",
        "loss" in refused(box, "job", "add", "train", "loss", "--stdin", stdin=b'{"epoch": 1, "loss": 2}'),
    )
    fathom(box, "job", "kind", "add", "loss", "--schema", "loss.json")
    fathom(box, "job", "kind", "add", "loss", "--schema", "loss.json")  # the same again
    check("kinds", ["loss"], [kind["name"] for kind in told(box, "job", "kind", "list")])
    good = [{"epoch": n, "loss": 1 / n, "note": "größe\u200b\u202e"} for n in (1, 2)]
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in good).encode()
    fathom(box, "job", "add", "train", "loss", "--stdin", stdin=text)
    words = refused(box, "job", "add", "train", "loss", "--stdin", stdin=text + b'{"epoch": "x", "loss": 1}\n')
    check_true(f"the place: {words!r}", "/epoch" in words)
    refused(box, "job", "add", "train", "loss", "--stdin")  # no record at all
    check("records", good, told(box, "job", "show", "train", "--kind", "loss"))
    fathom(box, "job", "show", "train", "--kind", "loss", "--file", "loss.csv")
    check("columns", "record,epoch,loss,note", (box.dir / "loss.csv").read_text().splitlines()[0])
    fathom(box, "job", "show", "train", "--kind", "loss", "--file", "loss.txt")
    check("lines", good, [json.loads(line) for line in (box.dir / "loss.txt").read_text().splitlines()])
    (box.dir / "bad.json").write_text('{"pattern": "x"}')
    check_true(
        "a word that nobody checks", "pattern" in refused(box, "job", "kind", "add", "bad", "--schema", "bad.json")
    )
    fathom(box, "job", "clear", "train", "--kind", "loss")
    check("after clear", [], told(box, "job", "show", "train", "--kind", "loss"))


def test_dumps_are_imported(box: Box) -> None:
    """What profiling-framework wrote comes in: nodes, and benchmarks with `time` or `Exectime`; damage is counted."""
    fathom(box, "job", "create", "2001")
    dump = [{"f": {"execname": "a", "cycles": "17"}}, {"cache-misses:u": "12,345", "time": "1.25"}, {"Exectime": 2}]
    text = "\n".join(json.dumps(line) for line in dump) + '\n{"f": {\n'
    (box.dir / "dump").write_text(text)
    err = fathom(box, "job", "import", "2001", "dump")[1]
    check_true(f"the damaged line: {err!r}", b"1 damaged line" in err and b"line 4" in err)
    check(
        "rows",
        [["f", "a", "cycles", 17]],
        [list(row.values()) for row in told(box, "job", "show", "2001", "--profile")],
    )
    fathom(box, "job", "show", "2001", "--benchmarks", "--file", "back")
    back = [json.loads(line) for line in (box.dir / "back").read_text().splitlines()]
    check("benchmarks", [{"Exectime": "1.25", "cache-misses:u": "12345"}, {"Exectime": "2.0"}],
          [{**line, "Exectime": str(float(line["Exectime"])) } for line in back])  # fmt: skip
    refused(box, "job", "import", "2001", "-", stdin=b"nothing of it\n")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def redis(box: Box, port: int) -> Iterator[int]:
    if not shutil.which("redis-server"):
        raise Skipped("no redis-server here (apt install redis-server)")
    place = box.root / f"redis-{port}"
    place.mkdir()
    process = box.start(
        "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", place, "--save", "", "--appendonly", "yes"
    )
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.02)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


def redis_ask(port: int, *words: str) -> None:
    request = f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(request.encode())
        check_true("an answer of Redis", connection.recv(100)[:1] in b"+:$")


def test_an_old_deployment_is_imported(box: Box) -> None:
    """profiling-framework's main Redis and the one of a job: jobs, sums and benchmarks come over; the rest is told."""
    with redis(box, free_port()) as main:
        job = next(port for port in range(9999, 2001, -1) if socket.socket().connect_ex(("127.0.0.1", port)) != 0)
        with redis(box, job):
            redis_ask(
                main,
                "HSET",
                str(job),
                "info",
                "first job",
                "benchmark",
                "1",
                "pid",
                "7",
                "0",
                '{"cycles": "1,000", "time": "2.5"}',
            )
            redis_ask(main, "HSET", "2001", "info", "its Redis is gone", "benchmark", "0")
            redis_ask(job, "HSET", "f+0x1a", "execname", "(/opt/clang++)", "cycles:", "10")
            redis_ask(job, "HSET", "f+0x2b", "execname", "(/opt/clang++)", "cycles:", "7", "cache-misses:u:", "3")
            out, err = fathom(box, "job", "import", "--redis", f"127.0.0.1:{main}", status=3)
    check_true(f"2001 is told: {err!r}", b"2001" in err)
    check("what came", b"2 jobs, 2 sums and 1 benchmark imported\n", out)
    got = sorted(tuple(row.values()) for row in told(box, "job", "show", job, "--profile"))
    check("sums", [("f", "/opt/clang++", "cache-misses:u", 3), ("f", "/opt/clang++", "cycles", 17)], got)
    (record,) = told(box, "job", "show", job, "--benchmarks")
    check("benchmark", (2.5, 1000), (record["runs"][0]["wall"], record["runs"][0]["events"]["cycles"]["value"]))


def test_move(box: Box) -> None:
    """Jobs go to another store with all that they have, and a batch that is sent again counts once there."""
    filled(box)
    other = f"sqlite:{box.root / 'other.db'}"
    check("words", b"1 job, 2 sums and 2 records copied\n", fathom(box, "job", "move", "--to", other)[0])
    check(
        "profile there",
        told(box, "job", "show", "nightly", "--profile"),
        told(box, "job", "show", "nightly", "--profile", "--server", other),
    )
    refused(box, "job", "move", "--to", other)  # it is there already
    refused(box, "job", "move", "--to", "somewhere", status=2)


def test_old_programs_need_no_server_to_be_wrong(box: Box) -> None:
    """profiling-framework's programs lie beside ours and refuse wrong words with the range or what they know."""
    for name, words, part in (
        ("profiling-controller", ("--cmd", "DANCE"), b"SHOW_JOB_PROFILING"),
        ("profiling-controller", ("--cmd", "CREATE", "--jobid", "2000", "--info", "x"), b"9999"),
        ("profiling-controller", ("--cmd", "CREATE", "--jobid", "2002"), b"--info"),
        ("profiling-client", ("--port", "1"), b"--jobid"),
        ("benchmark-client", ("--jobid", "2001", "--dance", "x"), b"--log"),
        ("profiling-parser", ("--port", "2001"), b"--file"),
        ("profiling-dump", ("--port", "2001"), b"--o"),
    ):
        process = box.start(box.kit.build / name, *words, env=home(box))
        err = box.finish(process, 2)[1]
        check_true(f"{name} {words}: {err!r}", part in err)


def test_offline_programs(box: Box) -> None:
    """profiling-parser and profiling-dump work on the job whose number was the port of its Redis."""
    fathom(box, "job", "create", "2001")
    (box.dir / "perf.txt").write_text("laps 1 2.5: 10 cycles:u: 11db lap+0x3b (/opt/laps)\n")
    box.run(box.kit.build / "profiling-parser", "--file", "perf.txt", "--port", "2001", env=home(box))
    box.run(box.kit.build / "profiling-dump", "--o", "out", "--port", "2001", env=home(box))
    check("the dump", {"lap": {"execname": "laps", "cycles:u": "10"}}, json.loads((box.dir / "out").read_text()))

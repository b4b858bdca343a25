# SPDX-License-Identifier: MIT
"""Exports read back by readers that we did not write, and imports of what other tools print."""

import base64
import csv
import gzip
import hashlib
import html.parser
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from kit import (
    FATHOM,
    HERE,
    SPEEDSCOPE,
    TOP,
    Failure,
    Skip,
    count,
    data_of_page,
    environment,
    expect,
    exported,
    npm_package,
    ran,
    rows,
)


def text_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def strict_json(content: bytes) -> Any:
    """Neither NaN nor infinities, and no key twice in an object."""

    def refuse(word: str) -> None:
        raise Failure(f"{word} is no JSON")

    def once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Failure(f"a key stands twice in {[key for key, _ in pairs]}")
        return dict(pairs)

    return json.loads(content.decode(), parse_constant=refuse, object_pairs_hook=once)


def self_time(trace: Path) -> int:
    return rows(trace, "SELECT CAST(sum(self) AS BIGINT) AS n FROM summary")[0]["n"]


def test_chrome_is_strict_json(root: Path) -> None:
    for name in ("out.json", "out.json.gz"):
        trace, out = exported(root, "chrome", name)
        events = strict_json(text_of(out))["traceEvents"]
        expect("events", count(trace), sum(event["ph"] == "X" for event in events))
        wanted = rows(trace, "SELECT sum(dur)::BIGINT AS dur FROM events")[0]["dur"]
        got = sum(round(1000 * event["dur"]) for event in events if event["ph"] == "X")
        expect("time", wanted, got)


def test_chrome_comes_back(root: Path) -> None:
    trace, out = exported(root, "chrome", "out.json.gz")
    back = root / "back.fathom"
    ran(FATHOM, "import", out, "-o", back)
    sql = (
        "SELECT layer, name, depth, count(*) AS n, sum(dur)::BIGINT AS dur, sum(bytes)::BIGINT AS bytes, "
        "count(DISTINCT file) AS files FROM events GROUP BY ALL ORDER BY ALL"
    )
    expect("events", rows(trace, sql), rows(back, sql))
    sql = "SELECT name, unit, count(*) AS n, sum(value) AS sum FROM counters GROUP BY ALL ORDER BY ALL"
    expect("counters", rows(trace, sql), rows(back, sql))


def test_firefox_is_strict_json(root: Path) -> None:
    trace, out = exported(root, "firefox", "out.json.gz")
    profile = strict_json(text_of(out))
    expect("markers", count(trace), sum(thread["markers"]["length"] for thread in profile["threads"]))
    for thread in profile["threads"]:
        for table in (value for value in thread.values() if isinstance(value, dict)):
            lengths = {len(column) for column in table.values() if isinstance(column, list)}
            expect("lengths of columns", {table["length"]}, lengths)
        texts = len(thread["stringArray"])
        expect("names beyond the table", [], [i for i in thread["funcTable"]["name"] if i >= texts])
    ns = sum(round(1e6 * weight) for thread in profile["threads"] for weight in thread["samples"]["weight"])
    expect("time", self_time(trace), ns)


def small(root: Path, form: str) -> Tuple[Path, Path]:
    """The recording of the golden tests, which has samples, intervals and correlations, exported."""
    trace, out = root / "small.fathom", root / f"small.{form}"
    if not trace.exists():
        ran(FATHOM, "import", TOP / "tests" / "golden" / "small.txt", "-o", trace)
    ran(FATHOM, "export", trace, "--format", form, "-o", out)
    return trace, out


FILTERS = (
    (("--name", "fwrite"), (b"fwrite",), (b"cuLaunchKernel", b"load")),
    (("--pid", "20"), (b"cuLaunchKernel",), (b"fwrite", b"load")),
    (("--from", "0.00039", "--layers", "cuda,gpu"), (b"cuLaunchKernel", b"kernel"), (b"fwrite", b"load")),
    (("--to", "0.0001"), (b"pread", b"step"), (b"fwrite", b"load", b"cuLaunchKernel")),
)


def test_filters_in_every_format(root: Path) -> None:
    trace, _ = small(root, "csv")
    for form in ("chrome", "perfetto", "pfw", "speedscope", "pprof", "collapsed", "firefox", "csv", "html"):
        for options, kept, left in FILTERS:
            out = root / "part"
            calls = ("--weight", "calls") if form == "collapsed" else ()
            ran(FATHOM, "export", trace, "--format", form, "-o", out, *options, *calls)
            content = out.read_bytes()
            content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            if form == "html":
                expect("what the page says of advice", True, b"advice needs the whole run" in content)
                content = json.dumps(data_of_page(out)).encode()  # not what the page itself consists of
            expect(f"{form} {options}: kept", [], [word for word in kept if word not in content])
            expect(f"{form} {options}: left out", [], [word for word in left if word in content])


def samples_in(trace: Path) -> List[List[Any]]:
    """ts, event, pid, tid, cpu, weight, functions"""
    sql = (
        'SELECT ts, event, pid, tid, cpu, weight, list("function" ORDER BY depth) AS stack '
        "FROM samples JOIN frames USING (stack) GROUP BY ALL ORDER BY ts"
    )
    return [list(row.values()) for row in rows(trace, sql)]


def test_samples_in_perfetto(root: Path) -> None:
    python = environment("v2", "requirements.txt") / "python"
    trace, out = small(root, "perfetto")
    read = json.loads(ran(python, HERE / "perfetto_slices.py", out))["samples"]
    start = min(ts for ts, *_ in read) - 10000  # the first sample's own time
    expect("samples", samples_in(trace), sorted([ts - start, *rest] for ts, *rest in read))


def test_samples_and_flows_in_chrome(root: Path) -> None:
    trace, out = small(root, "chrome")
    content = strict_json(text_of(out))
    frames = content["stackFrames"]

    def functions(place: Optional[int]) -> List[str]:
        if place is None:
            return []
        frame = frames[str(place)]
        return [*functions(frame.get("parent")), frame["name"]]

    keys = ("name", "pid", "tid")
    got = [
        [round(1000 * one["ts"]), *(one[key] for key in keys), one.get("cpu"), one["weight"], functions(one["sf"])]
        for one in content["samples"]
    ]
    expect("samples", samples_in(trace), got)
    arrows = [(event["ph"], event["id"]) for event in content["traceEvents"] if event["ph"] in "sf"]
    expect("arrows", ["s", "f"], [phase for phase, _ in arrows])
    expect("numbers that join them", 1, len({number for _, number in arrows}))


def test_counters_in_firefox(root: Path) -> None:
    trace, out = small(root, "firefox")
    profile = strict_json(text_of(out))
    sums = {}
    for counter in profile["counters"]:
        thread = profile["threads"][counter["mainThreadIndex"]]
        expect("process of the thread", True, counter["pid"] in ("0", thread["pid"]))
        (group,) = counter["sampleGroups"]
        expect(
            "lengths of columns",
            {group["samples"]["length"]},
            {len(group["samples"][key]) for key in ("time", "count")},
        )
        sums[counter["name"]] = sum(group["samples"]["count"])
    for row in rows(trace, "SELECT name, arg_max(value, ts) AS last FROM counters GROUP BY name"):
        expect(row["name"], row["last"], sums[row["name"]])
    expect("intervals end at 0", 0, sums["read bytes [syscall]"])


def test_speedscopes_schema(root: Path) -> None:
    python = environment("readers", "requirements-readers.txt") / "python"
    schema = npm_package("speedscope", SPEEDSCOPE) / "dist" / "release" / "file-format-schema.json"
    trace, out = exported(root, "speedscope", "out.json")
    judge = "import json, sys, jsonschema\njsonschema.validate(*(json.load(open(path)) for path in sys.argv[1:]))\n"
    ran(python, "-c", judge, out, schema)
    profile = strict_json(text_of(out))
    opened = sum(event["type"] == "O" for one in profile["profiles"] for event in one["events"])
    expect("calls", count(trace), opened)


def test_go_tool_pprof(root: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise Skip("Go is not installed")
    trace, out = exported(root, "pprof", "out.pb.gz")
    raw = ran(go, "tool", "pprof", "-raw", out)
    body = raw.split("Samples:\n", 1)[1]
    kinds = body.splitlines()[0].replace("[dflt]", "").split()
    expect("values", ["calls/count", "time/nanoseconds"], kinds)
    values = [line.split(":")[0].split() for line in re.findall(r"^ +\d+ +\d+: .*$", body, re.M)]
    expect("calls", count(trace), sum(int(calls) for calls, _ in values))
    expect("time", self_time(trace), sum(int(ns) for _, ns in values))
    # Behind its locations each sample has its labels, on lines of their own.
    labels = Counter()
    for (calls, _), label in zip(values, re.findall(r"^ +program:\[(.*?)\]", body, re.M)):
        labels[label] += int(calls)
    by_program = rows(trace, "SELECT program, count(*) AS n FROM events GROUP BY ALL")
    expect("calls by program", Counter({row["program"]: row["n"] for row in by_program}), labels)


def test_collapsed_sums(root: Path) -> None:
    trace, out = exported(root, "collapsed", "out.txt")
    ran(FATHOM, "export", trace, "--format", "collapsed", "--weight", "calls", "-o", out)
    lines = out.read_text().splitlines()
    expect("time", self_time(trace), sum(int(line.rsplit(" ", 1)[1]) for line in lines))
    back = root / "back.fathom"
    ran(FATHOM, "import", out, "-o", back)
    got = rows(back, "SELECT count(*) AS n, sum(weight)::BIGINT AS weight FROM samples")[0]
    expect("stacks that come back", {"n": len(lines), "weight": self_time(trace)}, got)


READ_PARQUET = """
import sys, duckdb, pandas, pyarrow.parquet
path = sys.argv[1]
frame = pandas.read_parquet(path)
table = pyarrow.parquet.read_table(path)
row = duckdb.sql(f"SELECT count(*), sum(dur)::BIGINT, sum(bytes)::BIGINT, count(args) FROM '{path}'").fetchall()[0]
print(len(frame), int(frame.dur.sum()), int(frame.bytes.sum()))
print(table.num_rows, sum(table["dur"].to_pylist()), sum(n or 0 for n in table["bytes"].to_pylist()))
print(*row)
"""


def test_parquet_readers(root: Path) -> None:
    python = environment("readers", "requirements-readers.txt") / "python"
    trace, out = exported(root, "parquet", "out.parquet")
    sql = "SELECT count(*) AS n, sum(dur)::BIGINT AS dur, sum(bytes)::BIGINT AS bytes, count(args) AS args FROM events"
    wanted = [str(number) for number in rows(trace, sql)[0].values()]
    lines = ran(python, "-c", READ_PARQUET, out).splitlines()
    for reader, line in zip(("pandas", "pyarrow", "duckdb"), lines):
        expect(reader, wanted[: len(line.split())], line.split())
    part = root / "part.parquet"
    ran(FATHOM, "export", trace, "--format", "parquet", "-o", part, "--name", "read", "--layers", "posix")
    wanted = rows(trace, "SELECT count(*) AS n FROM events WHERE name = 'read' AND layer = 'posix'")[0]["n"]
    lines = ran(python, "-c", READ_PARQUET, part).splitlines()
    expect("rows of a part", str(wanted), lines[0].split()[0])


PARQUET_TEXT = """
import sys, duckdb
for question in ("DESCRIBE FROM '{}'", "FROM '{}' ORDER BY ALL"):
    for row in duckdb.sql(question.format(sys.argv[1])).fetchall():
        print(*row, sep="|")
"""


def test_parquet_as_expected(root: Path) -> None:
    """The columns, their types and the rows of a small recording, exactly."""
    python = environment("readers", "requirements-readers.txt") / "python"
    golden = TOP / "tests" / "golden"
    trace = root / "small.fathom"
    ran(FATHOM, "import", golden / "small.txt", "-o", trace)
    for table in ("events", "counters", "intervals"):
        out = root / f"{table}.parquet"
        ran(FATHOM, "export", trace, "--format", "parquet", "--table", table, "-o", out)
        wanted = (golden / "small" / f"{table}.parquet.txt").read_text().splitlines()
        expect(table, wanted, ran(python, "-c", PARQUET_TEXT, out).splitlines())


def test_csv(root: Path) -> None:
    trace, out = exported(root, "csv", "out.csv.gz")
    table = list(csv.DictReader(text_of(out).decode().splitlines()))
    expect("rows", count(trace), len(table))
    wanted = rows(trace, "SELECT sum(dur)::BIGINT AS n FROM events")[0]["n"]
    expect("time", wanted, sum(int(row["dur"]) for row in table))


class Page(html.parser.HTMLParser):
    """What a page consists of: its words without scripts, what it would load, the text of its scripts and styles."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: List[str] = []
        self.parts: Dict[str, List[str]] = {}
        self.policy = ""
        self.words = ""
        self.inside = ""
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        facts = dict(attrs)
        self.links += [value or "" for key, value in attrs if key in ("src", "href")]
        if facts.get("http-equiv") == "Content-Security-Policy":
            self.policy = facts["content"] or ""
        self.inside = f"{tag} {facts.get('type') or ''}".strip() if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.parts.setdefault(self.inside, []).append(data)
        else:
            self.words += data


def test_numbers_of_the_page_are_those_of_sql(root: Path) -> None:
    trace, out = exported(root, "html", "out.html")
    data = data_of_page(out)
    answers = data["answers"]
    overview = json.loads(ran(FATHOM, "report", trace, "--format", "json"))
    expect("overview", overview, answers["/report/overview"])
    times = json.loads(ran(FATHOM, "report", trace, "time", "--by", "state,cause", "--top", "0", "--format", "json"))
    expect("time", times, answers["/report/time?by=state,cause&top=0"])
    for view in ("sizes", "latencies", "explain"):
        wanted = json.loads(ran(FATHOM, "report", trace, view, "--format", "json"))
        expect(view, wanted, answers[f"/report/{view}"])
    files = json.loads(ran(FATHOM, "report", trace, "files", "--top", "1000", "--format", "json"))
    expect("files", files, answers["/report/files"])
    flame = answers["/flame?weight=time&invert=0"]
    expect("time of the flame graph", self_time(trace), flame["total"])
    moved = "SELECT coalesce(sum(bytes), 0)::BIGINT AS n FROM events WHERE layer IN ('posix', 'stdio')"
    heat = answers["/heatmap?rows=process&what=bytes&category=all"]
    expect("heat map", rows(trace, moved)[0]["n"], sum(map(sum, heat["cells"])))
    # Those beside the run too: lines lead to what was read before its begin and after its end.
    shown = "SELECT DISTINCT name, host, pid FROM counters WHERE value IS NOT NULL"
    last = f"SELECT CAST(count(*) AS BIGINT) AS n FROM ({shown})"
    lines = {tuple(map(str, (row[0], row[3], row[4]))) for row in data["statements"]["counters"]["rows"]}
    expect("counters", rows(trace, last)[0]["n"], len(lines))


def test_the_page_has_every_event_of_a_small_recording(root: Path) -> None:
    trace, out = exported(root, "html", "out.html")
    timeline = data_of_page(out)["timeline"]
    kinds = {track["id"]: track["kind"] for track in data_of_page(out)["answers"]["/tracks"]["tracks"]}
    drawn = Counter()
    for window in timeline["windows"]:
        for track in window["tracks"]:
            if kinds[track["id"]] in ("counter", "samples"):
                continue
            for start, dur, name, count_in in zip(track["start"], track["dur"], track["name"], track["count"]):
                drawn[window["names"][name], start + window["from"], dur if count_in == 1 else -1] += count_in
    sql = "SELECT name, ts, dur FROM events"
    wanted = Counter((row["name"], row["ts"], row["dur"]) for row in rows(trace, sql))
    expect("level, tracks left out", (0, 0), (timeline["level"], timeline["left_out"]))
    expect("events", sum(wanted.values()), sum(drawn.values()))
    alone = Counter({key: number for key, number in drawn.items() if key[2] >= 0})
    expect("events of the file that are not in the recording", Counter(), alone - wanted)


def test_the_page_runs_by_its_hashes_alone(root: Path) -> None:
    """And says the report's sentences where no script runs."""
    trace, out = exported(root, "html", "out.html")
    page = Page(out)
    expect("what is loaded", ["data:image/svg+xml;base64"], [link.split(",")[0] for link in page.links])
    for tag, source in (("script module", "script-src"), ("style", "style-src")):
        (text,) = page.parts[tag]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        expect(tag, True, f"{source} 'sha256-{digest}';" in page.policy)
    expect("everything else", True, page.policy.startswith("default-src 'none';"))
    expect("exceptions", [], re.findall(r"unsafe|https?:|\*", page.policy))
    words = json.loads(ran(FATHOM, "report", trace, "--format", "json"))["words"]
    expect("sentences that are missing", [], [row["text"] for row in words if row["text"] not in page.words])
    expect("size: the bundle, and at most 4 MiB of data", True, out.stat().st_size < 1_000_000 + 4 * 2**20)


def test_import_of_perf_script(root: Path) -> None:
    perf = shutil.which("perf")
    if perf is None:
        raise Skip("perf is not installed")
    data = root / "perf.data"
    work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    words = [perf, "record", "-q", "-e", "cpu-clock", "-F", "499", "-g", "-o", str(data), "--", "sh", "-c", work]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0 or not data.exists():
        raise Skip(f"perf cannot record here: {(done.stderr.strip() or 'no reason')[-100:]}")
    text = ran(perf, "script", "-i", data)
    heads = re.findall(r"^\S.*?\s(\d+)(?:/\d+)?\s.*?\d+\.\d+:\s+(\d+)\s+cpu-clock", text, re.M)
    frames = re.findall(r"^\s+[0-9a-f]+ .*\)$", text, re.M)
    path, trace = root / "perf.txt", root / "perf.fathom"
    path.write_text(text)
    ran(FATHOM, "import", path, "-o", trace)
    got = rows(trace, "SELECT count(*) AS n, CAST(sum(weight) AS BIGINT) AS weight FROM samples")[0]
    expect("samples", {"n": len(heads), "weight": sum(int(period) for _, period in heads)}, got)
    got = rows(trace, "SELECT count(*) AS n FROM samples JOIN frames USING (stack)")[0]["n"]
    expect("frames", len(frames), got)
    expect("losses", [], rows(trace, "SELECT * FROM losses"))

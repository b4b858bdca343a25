# SPDX-License-Identifier: MIT
"""Exports read back by readers that we did not write, and imports of what other tools print."""

import csv
import gzip
import html
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
    environment,
    expect,
    exported,
    npm_package,
    page_in_browser,
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
    """Numbers that the marks of each section carry."""

    def __init__(self) -> None:
        super().__init__()
        self.section = ""
        self.marks: Dict[str, List[str]] = {}
        self.links: List[str] = []

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        facts = dict(attrs)
        if tag == "section":
            self.section = facts.get("id") or ""
        if tag in ("rect", "polyline") and facts.get("data-value") is not None:
            self.marks.setdefault(self.section, []).append(facts["data-value"] or "")
        self.links += [value or "" for key, value in attrs if key in ("src", "href")]


def test_numbers_of_the_page_are_those_of_sql(root: Path) -> None:
    trace, out = exported(root, "html", "out.html")
    text = out.read_text()
    page = Page()
    page.feed(text)
    expect("references to elsewhere", [], page.links + re.findall(r"https?://|url\(|@import", text))
    layers = json.loads(ran(FATHOM, "report", trace, "layers", "--format", "json"))["time_by_layer"]
    split = [int(value) for value in page.marks["time_by_layer"]]
    expect("time by layer", [row["self"] for row in layers], split)
    where = "category IN ('read', 'write') AND bytes IS NOT NULL"
    calls = rows(trace, f"SELECT CAST(sum(calls) AS BIGINT) AS n FROM summary WHERE {where}")[0]["n"]
    for chart in ("i_o_sizes", "i_o_latencies"):
        expect(chart, calls, sum(int(value) for value in page.marks[chart]))
    moves = "category IN ('read', 'write', 'copy') AND bytes > 0 AND layer IN ('posix', 'stdio')"
    what = "pid, category, coalesce(file, '')"
    below = f"layer = 'posix' OR ({what}) NOT IN (SELECT ({what}) FROM events WHERE {moves} AND layer = 'posix')"
    moved = rows(trace, f"SELECT sum(bytes)::BIGINT AS n FROM events WHERE {moves} AND ({below})")[0]["n"]
    copied = "SELECT coalesce(sum(bytes), 0)::BIGINT AS n FROM summary WHERE calls = 0 AND layer = 'posix'"
    moved += rows(trace, copied)[0]["n"]  # read from one file, and written to another
    expect("heat map", moved, sum(int(value) for value in page.marks["i_o_over_processes_and_time"]))


def test_the_page_in_a_browser(root: Path) -> None:
    _, out = exported(root, "html", "out.html")
    text, said = page_in_browser(f"file://{out}")
    if "Uncaught" in said or "Refused" in said:
        raise Failure(f"the browser says {said[-300:]}")
    expect("heads of tables that the script makes buttons of", 0, len(re.findall(r"<th[^>]*>[^<]", text)))


# Rectangles of labels that meet another one, of text that was cut short, and how much of the window the page uses.
MEASURE = """<script>
const labels = [...document.querySelectorAll(".label")].map((label) => [label, label.getBoundingClientRect()]);
const meet = (a, b) =>
  a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
const bad = labels.filter(([label, box], at) =>
  box.width > 0 && labels.some(([, other], number) => number < at && meet(box, other)));
const cut = labels.filter(([label]) => label.closest(".axis,.bins") && label.scrollWidth > label.clientWidth + 1);
const order = [...document.querySelectorAll("section")].map((section) => section.id);
const used = document.querySelector("section").getBoundingClientRect().width / innerWidth;
const found = {labels: labels.length, bad: bad.map(([label]) => label.textContent),
  cut: cut.map(([label]) => label.textContent), order, used,
  scrolls: document.documentElement.scrollWidth > innerWidth,
  bins: [...document.querySelectorAll("#i_o_sizes figure")].map((figure) => figure.querySelectorAll("rect").length)};
document.body.innerHTML = "<pre id=found></pre>";
document.getElementById("found").textContent = JSON.stringify(found);
</script>"""

MANY_SIZES = """fathom recording 1
run host=alpha start=1700000000000000000 duration=1000000000 command="a program of all sizes"
process 10 name=a-program-with-a-name-that-is-rather-long command="many" ppid=1 start=0 end=1000000000
thread 10/10 start=0 end=1000000000
"""


def test_labels_of_the_page_do_not_overlap(root: Path) -> None:
    lines = [
        f"event 10/10 {1000000 * power} +{2**power} posix read category=read file=/data/{power} bytes={2**power}\n"
        for power in range(31)
        if power != 7  # a bucket without a call has its place all the same
    ]
    text, trace, out = root / "sizes.txt", root / "sizes.fathom", root / "sizes.html"
    text.write_text(MANY_SIZES + "".join(lines))
    ran(FATHOM, "import", text, "-o", trace)
    ran(FATHOM, "export", trace, "--format", "html", "-o", out)
    out.write_text(out.read_text().replace("</body>", MEASURE + "</body>"))
    for width in (700, 1200, 2200):
        page, _ = page_in_browser(f"file://{out}", f"--window-size={width},1000")
        found = json.loads(html.unescape(re.findall(r'<pre id="found">(.*?)</pre>', page)[0]))
        expect(f"labels at {width} pixels", True, found["labels"] > 20)
        expect(f"labels that overlap at {width} pixels", [], found["bad"])
        expect(f"labels that are cut at {width} pixels", [], found["cut"])
        expect(f"at {width} pixels, the page is wider", False, found["scrolls"])
        expect(f"width of {width} that is used", True, found["used"] > 0.9)
        expect("buckets", [31], found["bins"])
        expect("what is first and last", ["words", "run"], [found["order"][0], found["order"][-1]])


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

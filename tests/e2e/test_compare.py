# SPDX-License-Identifier: MIT
"""diff and check: a real program that reads the same file in large and in small blocks."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from kit import Box, check, check_true

SIZE = 1 << 20
LARGE = 1 << 16
SMALL = 1 << 7


def record(box: Box, name: str, block: int, folder: str = "work") -> Path:
    """One run of dd in a folder of its own, as if it were another checkout."""
    place = box.root / folder
    place.mkdir(exist_ok=True)
    (place / "in.dat").write_bytes(b"x" * SIZE)
    trace = box.root / f"{name}.fathom"
    command = f"cd {place} && exec {box.kit.fathom} run -q -o {trace} -- dd if=in.dat of=out.dat bs={block} status=none"
    box.run("sh", "-c", command)
    return trace


def diff(box: Box, *arguments: object, status: int | None = None) -> tuple[int, dict[str, Any]]:
    process = box.start(box.kit.fathom, "diff", *arguments, "--format", "json")
    out, _ = box.finish(process, status)
    return process.returncode, json.loads(out)


def row(table: list[dict[str, Any]], **wanted: str) -> dict[str, Any]:
    found = [line for line in table if all(line[key] == value for key, value in wanted.items())]
    check(f"rows of {wanted}", 1, len(found))
    return found[0]


def test_diff_of_two_checkouts(box: Box) -> None:
    before = record(box, "before", LARGE, "one")
    after = record(box, "after", SMALL, "two")
    status, answer = diff(box, before, after, "--threshold", 0)
    check("exit status with any change counted", 1, status)
    reads = row(answer["by_function"], name="read", layer="posix")
    # dd reads until it gets nothing, and may look at a locale file or two before.
    check_true(f"reads before {reads}", SIZE // LARGE < reads["calls_old"] < SIZE // LARGE + 20)
    check_true(f"reads after {reads}", SIZE // SMALL < reads["calls_new"] < SIZE // SMALL + 20)
    check("no test without repetitions", False, "p" in reads)
    own = row(answer["by_file"], file="./in.dat")
    check("in.dat is the same file in both checkouts", "", own["note"])
    check("reads of in.dat", SIZE // SMALL - SIZE // LARGE, own["calls_new"] - own["calls_old"])
    words = " ".join(line["text"] for line in answer["words"])
    check_true(f"words {words}", "Each side has a single run" in words and "Wall time" in words)
    written = row(answer["run_memory_and_bytes"], figure="bytes written")
    check("bytes written", (SIZE, SIZE), (written["before"], written["after"]))


def test_diff_explains_the_whole_change(box: Box) -> None:
    before, after = record(box, "before", LARGE), record(box, "after", SMALL)
    _, answer = diff(box, before, after, "--by", "layer,name", "--top", 0)
    for table in ("by_layer", "by_function"):
        explained = sum(line["explains"] for line in answer[table])
        check_true(f"{table} explains {explained} %", abs(explained - 100) < 1)
    times = row(answer["run_time"], figure="thread time")
    lines = sum(line["change"] for line in answer["by_function"])
    check_true(f"changes {lines} add up to {times}", abs(lines - times["change"]) < 1000)


def test_diff_of_the_same_recording(box: Box) -> None:
    trace = record(box, "only", LARGE)
    status, answer = diff(box, trace, trace, "--threshold", 0)
    check("exit status", 0, status)
    check("changes", {0}, {line["change"] for line in answer["by_function"]})


def test_diff_of_repetitions(box: Box) -> None:
    """Folders of recordings and lists of them are the same sets; the exit status is what the test says."""
    sets: dict[str, list[Path]] = {"before": [], "after": []}
    for name, block in (("before", LARGE), ("after", SMALL)):
        (box.root / name).mkdir()
        for number in range(5):
            sets[name].append(record(box, f"{name}/{number}", block))
    status, answer = diff(box, box.root / "before", box.root / "after")
    wall = row(answer["run_time"], figure="wall time")
    told = wall["p"] < 0.05 and (wall["low"] > 0 or wall["high"] < 0)
    check("exit status", int(told), status)
    check_true(f"interval {wall}", wall["low"] <= wall["change"] <= wall["high"])
    writes = row(answer["by_function"], name="write", layer="posix")
    check("writes", (SIZE / LARGE, SIZE / SMALL), (writes["calls_old"], writes["calls_new"]))
    before, after = (",".join(map(str, sets[name])) for name in ("before", "after"))
    check("named one by one", (status, answer), diff(box, "--before", before, "--after", after))
    check("with a threshold", 0, diff(box, "--before", before, "--after", after, "--threshold", 1e9)[0])


def test_diff_formats_and_mistakes(box: Box) -> None:
    trace = record(box, "only", LARGE)
    for form, sign in (("table", b"By function"), ("csv", b"name,layer,before"), ("md", b"| name |")):
        check_true(f"{form}", sign in box.fathom("diff", trace, trace, "--format", form))
    for wrong in ([trace], [trace, trace, "--by", "moon"], ["--before", trace], [trace, trace, "--before", trace]):
        box.fathom("diff", *wrong, status=2)
    box.fathom("diff", trace, box.root / "nowhere", status=3)


def test_diff_warns_of_different_layers(box: Box) -> None:
    before = record(box, "before", LARGE)
    box.run(box.kit.fathom, "run", "-q", "--layers", "posix", "-o", box.trace, "--", "true")
    words = " ".join(line["text"] for line in diff(box, before, box.trace)[1]["words"])
    check_true(f"words {words}", "not every recording of 'after' has layers" in words)


def budget(box: Box, text: str) -> Path:
    path = box.dir / "budget.yaml"
    path.write_text(text)
    return path


def test_check_gates(box: Box) -> None:
    trace, small = record(box, "large", LARGE), record(box, "small", SMALL)
    limits = budget(
        box,
        f"""
budgets:
  - measure: calls
    function: write
    layer: posix
    max: {SIZE // LARGE}
  - measure: bytes
    file: out.dat
    min: {SIZE}
    max: 1 MiB
  - measure: losses
    max: 0
  - measure: wall
    max: 1 h
  - sql: SELECT max(dur) FROM events
    max: 1 h
""",
    )
    box.fathom("check", trace, "--budget", limits)
    junit, markdown = box.dir / "out.xml", box.dir / "out.md"
    arguments = ["--budget", limits, "--junit", junit, "--markdown", markdown, "--format", "json"]
    rows = json.loads(box.fathom("check", small, *arguments, status=1))
    check("statuses", ["broken", "ok", "ok", "ok", "ok"], [line["status"] for line in rows])
    check("value and limit", (SIZE // SMALL, SIZE // LARGE), (rows[0]["value"], rows[0]["max"]))
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    check_true("a test suite", suite is not None)
    check("JUnit", ("5", "1", "0"), tuple(suite.attrib[key] for key in ("tests", "failures", "errors")))
    check_true("Markdown", "| broken |" in markdown.read_text())


def test_check_against_a_baseline(box: Box) -> None:
    trace, small = record(box, "large", LARGE), record(box, "small", SMALL)
    limits = budget(box, "budgets:\n - measure: calls\n   function: write\n   max: +5%\n")
    box.fathom("check", trace, "--budget", limits, status=2)
    box.fathom("check", trace, "--budget", limits, "--baseline", trace)
    box.fathom("check", small, "--budget", limits, "--baseline", trace, status=1)


def test_check_never_passes_what_is_not_there(box: Box) -> None:
    trace = record(box, "large", LARGE)
    for subject in ("function: wrote", "layer: cuda", "file: '*.nothing'"):
        limits = budget(box, f"budgets:\n - measure: calls\n   {subject}\n   max: 5\n")
        _, told = box.finish(box.start(box.kit.fathom, "check", trace, "--budget", limits), 3)
        check_true(f"one line {told!r}", told.startswith(b"fathom: budget") and told.count(b"\n") == 1)
        limits.write_text(limits.read_text() + "   optional: true\n")
        check_true("it says so", b"skipped" in box.fathom("check", trace, "--budget", limits))
    limits = budget(box, "budgets:\n - measure: calls\n   limit: 5\n")
    _, told = box.finish(box.start(box.kit.fathom, "check", trace, "--budget", limits), 3)
    check_true(f"the line is named {told!r}", b"budget.yaml:3: unknown key 'limit'" in told)
    box.fathom("check", trace, "--budget", box.dir / "none.yaml", status=3)
    box.fathom("check", trace, status=2)


def test_check_understands_the_documents(box: Box) -> None:
    """The example of docs/budget.md: all of it is understood; a counter that it names is not there."""
    trace = record(box, "large", LARGE)
    text = (Path(__file__).parents[2] / "docs" / "budget.md").read_text()
    limits = budget(box, text.split("```yaml\n")[1].split("```")[0])
    process = box.start(box.kit.fathom, "check", trace, "--budget", limits, "--baseline", trace, "--format", "json")
    out, told = box.finish(process, 3)
    check_true(f"told {told!r}", b"cannot be checked" in told)
    missing = [line["budget"] for line in json.loads(out) if line["status"] == "missing"]
    check_true(f"missing {missing}", "max of queue_depth" in missing)


def test_check_of_insights(box: Box) -> None:
    """A rule of the user's own that always fires, and one that never does."""
    trace = record(box, "large", LARGE)
    rules = box.dir / "rules"
    rules.mkdir()
    head = "-- severity: high\n-- title: T\n-- says: {n:count} things\n-- try: nothing\n"
    for name, query in (("always", "SELECT 1 AS n"), ("never", "SELECT 1 AS n WHERE false")):
        (rules / f"{name}.sql").write_text(f"-- id: {name}\n{head}{query}\n-- evidence:\nSELECT 1\n")
    for name, status in (("always", 1), ("never", 0), ("unheard-of", 3)):
        limits = budget(box, f"budgets:\n - measure: insights\n   rule: {name}\n")
        box.fathom("check", trace, "--budget", limits, "--rules", rules, status=status)


def test_what_was_lost_is_told_wherever_it_counts(box: Box) -> None:
    """A limit that holds for what was recorded is no pass where calls of that layer were lost."""
    text, trace = box.dir / "run.txt", box.dir / "lossy.fathom"
    text.write_text(
        "fathom recording 1\nrun command=work host=here start=1000 duration=1000000 exit=0\n"
        'loss posix "spool full" 3\nprocess 10 name=work start=0 end=1000000\n'
        "thread 10/10 start=0 end=1000000\nevent 10/10 0 +10 posix read file=/x bytes=100\n"
    )
    box.fathom("import", text, "-o", trace)
    limits = budget(box, "budgets:\n - measure: calls\n   function: read\n   max: 2\n")
    junit, lost = box.dir / "out.xml", "3 events of layer posix (spool full)"
    table = box.fathom("check", trace, "--budget", limits, "--junit", junit, status=3).decode()
    check_true(f"table: {table}", "unknown" in table and f"lost: {lost}" in table)
    check_true("JUnit", lost in junit.read_text() and 'errors="1"' in junit.read_text())
    box.fathom("check", trace, "--budget", limits, "--partial")
    for view in ("files", "functions", "sizes", "tree", "layers"):
        check_true(f"view {view}", box.fathom("report", trace, view).startswith(b"Lost: 3 events, "))
    rows, told = box.finish(box.start(box.kit.fathom, "report", trace, "files", "--format", "json"))
    check_true("beside numbers for programs", b"Lost: 3 events" in told and b"Lost" not in rows)

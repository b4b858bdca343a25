# SPDX-License-Identifier: MIT
"""Views and pictures of samples of a real program: they say what the samples say."""

import json
import re
import xml.etree.ElementTree as Xml
from pathlib import Path

from kit import VICTIMS, Box, check, check_true
from test_cpu import record

ALONE = "shares of CPU time are those of the whole machine"
ON_CPU = "event = 'cpu-clock'"


def report(box: Box, *words: str) -> dict:
    return json.loads(box.fathom("report", box.trace, *words, "--top", "0", "--format", "json"))


def test_views_add_up_to_the_samples(box: Box) -> None:
    record(box, "--sample", "997")
    whole, stacked = (
        int(value or 0)
        for value in box.values(
            f"SELECT sum(weight) FROM samples WHERE {ON_CPU}",
            f"SELECT sum(weight) FROM samples WHERE {ON_CPU} AND stack IS NOT NULL",
        )
    )
    for by in ((), ("--by", "thread"), ("--by", "event"), ("--by", "module")):
        rows = report(box, "hot", *by)["functions_by_sampled_time"]
        mine = [row for row in rows if row.get("event", "cpu-clock") == "cpu-clock"]
        check(f"self of all functions {by}", stacked, sum(row["self"] for row in mine))
    tree = report(box, "tree", "--layers", "cpu")["call_tree"]
    check("self of the tree", stacked, sum(row["self"] for row in tree))
    depths = {name: {row["depth"] for row in tree if row["call"] == name} for name in ("main", "spend", "heavy")}
    check("heavy lies below spend", {depth + 1 for depth in depths["spend"]} & depths["heavy"], depths["heavy"])
    collapsed = box.root / "collapsed.txt"
    box.fathom("export", box.trace, "--format", "collapsed", "--weight", "cpu", "-o", collapsed)
    lines = collapsed.read_text().splitlines()
    check("sum of collapsed stacks", whole, sum(int(line.rpartition(" ")[2]) for line in lines))


def test_lines_show_their_source(box: Box) -> None:
    record(box, "--sample", "997")
    rows = report(box, "lines")["source_lines_by_sampled_time"]
    ours = [row for row in rows if Path(row["file"]).name == "sampled.c" and row["function"] == "heavy"]
    check_true(f"lines of heavy: {ours}", bool(ours))
    source = (VICTIMS / "sampled.c").read_text().splitlines()
    for row in ours:
        check(f"text of line {row['line']}", source[row["line"] - 1].strip(), row["source"])


def test_flame_graph_of_a_program(box: Box) -> None:
    record(box, "--sample", "997")
    out = box.root / "flames.svg"
    box.fathom("export", box.trace, "--format", "flamegraph", "-o", out)
    widths: dict[str, float] = {}
    for group in Xml.fromstring(out.read_bytes()).iter():
        inside = {child.tag.rpartition("}")[2]: child for child in group}
        if "title" in inside and "rect" in inside:
            name = (inside["title"].text or "").split("\n")[0]
            widths[name] = widths.get(name, 0) + float(inside["rect"].get("width", "").rstrip("%"))
    whole = int(box.value(f"SELECT sum(weight) FROM samples WHERE {ON_CPU}"))
    told = dict(box.rows('SELECT "function", total FROM hot'))
    for name in ("heavy", "light", "other"):
        share = 100 * int(told[name]) / whole
        check_true(f"width of {name}: {widths[name]} is {share}", abs(widths[name] - share) < 0.01)
    text = box.fathom("export", box.trace, "--format", "html", "-o", "-").decode()
    data = json.loads(re.findall(r'id="fathom-data">([^<]*)<', text)[0])
    (flame,) = (each["answer"] for each in data["answers"] if each["asked"] == "/flame?weight=cpu&invert=0")
    check("CPU time of the page", whole, flame["total"])
    totals: dict[str, int] = {}
    for at, total in zip(flame["nodes"]["name"], flame["nodes"]["total"]):
        totals[flame["names"][at]] = totals.get(flame["names"][at], 0) + total
    for name in ("heavy", "light", "other"):
        check(f"{name} on the page", int(told[name]), totals[name])


def test_diff_names_the_function(box: Box) -> None:
    before, after = box.root / "before", box.root / "after"
    for trace, spends in ((before, "30"), (after, "600")):
        program = box.kit.victim("sampled", "-fno-omit-frame-pointer", f"-DLIGHT_MS={spends}")
        box.fathom("run", "-q", "--layers", "+cpu", "--sample", "997", "-o", trace, "--", program)
    words = box.run(box.kit.fathom, "diff", before, after, status=None).decode()
    check_true(f"light explains it: {words[:600]}", bool(re.search(r"light of \S+ explains \d\d+ %", words)))
    answer = json.loads(box.run(box.kit.fathom, "diff", before, after, "--format", "json", status=None))
    first = answer["by_sampled_function"][0]
    check("function that changed most", "light", first["function"])
    check_true(f"what it explains: {first}", first["explains"] > 50)
    bare = box.root / "bare"
    box.fathom("run", "-q", "--layers", "posix", "-o", bare, "--", "true")
    words = box.run(box.kit.fathom, "diff", before, bare, status=None).decode()
    check_true(f"a side without samples: {words[:300]}", "B has no samples of CPU time" in words)

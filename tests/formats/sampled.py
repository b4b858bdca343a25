# SPDX-License-Identifier: MIT
"""Samples and waits in every format that has stacks: read back, and added up as SQL adds them up."""

import gzip
import importlib.machinery
import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

from kit import FATHOM, HERE, TOP, environment, expect, ran, rows

Stacks = Counter  # (event, functions from the outermost on) to the weight of all samples there

# Two processes, a thread of which waits; a function that calls itself; a name of three letters that formats escape.
RECORDING = """fathom recording 1
run host=alpha start=1700000000000000000 duration=1000000000 command=./work
process 7 name=work start=0 end=1000000000
process 8 name=helper ppid=7 start=0 end=1000000000
thread 7/7 start=0 end=1000000000
thread 7/9 name=waits start=0 end=1000000000
thread 8/8 start=0 end=1000000000
event 7/7 100 +5000 posix read category=read file=/data/in
sample 7/7 1000 cpu-clock weight=10101010 cpu=0 stack=main!/opt/work@work.c:10;step!/opt/work@work.c:20
sample 7/7 2000 cpu-clock weight=10101010 cpu=1 stack=main!/opt/work@work.c:10;step!/opt/work@work.c:21
sample 7/7 3000 cpu-clock weight=9000001 cpu=1 stack="main!/opt/work@work.c:10;sort<a, \\"b\\">!/opt/work@work.c:5"
sample 7/9 1500 off-cpu weight=700000003 stack=clone!libc.so.6;wait!libc.so.6;futex_wait![kernel]
sample 7/9 1600 cpu-clock weight=11 stack=clone!libc.so.6;again!/opt/work;again!/opt/work
sample 8/8 1700 off-cpu weight=5 stack=main!/opt/helper;wait!libc.so.6
sample 8/8 1800 cpu-clock weight=13 stack=main!/opt/helper
"""


def recorded(root: Path) -> Path:
    text, trace = root / "sampled.txt", root / "sampled.fathom"
    if not trace.exists():
        text.write_text(RECORDING)
        ran(FATHOM, "import", text, "-o", trace)
    return trace


def export(trace: Path, form: str, *options: str) -> Path:
    out = trace.parent / f"sampled.{form}"
    ran(FATHOM, "export", trace, "--format", form, "-o", out, *options)
    return out


def in_sql(trace: Path) -> Stacks:
    sql = (
        'SELECT event, list("function" ORDER BY depth) AS functions, any_value(weight) AS weight '
        "FROM (SELECT row_number() OVER () AS id, * FROM samples) JOIN frames USING (stack) GROUP BY id, event"
    )
    stacks: Stacks = Counter()
    for row in rows(trace, sql):
        stacks[row["event"], tuple(row["functions"])] += row["weight"]
    return stacks


def test_samples_in_collapsed(root: Path) -> None:
    trace = recorded(root)
    wanted = in_sql(trace)
    got: Stacks = Counter()
    for line in export(trace, "collapsed").read_text().splitlines():
        stack, _, weight = line.rpartition(" ")
        event, _, *functions = stack.split(";")
        got[event, tuple(functions)] += int(weight)
    expect("stacks", wanted, got)
    for weight, event in (("cpu", "cpu-clock"), ("off-cpu", "off-cpu")):
        lines = export(trace, "collapsed", "--weight", weight).read_text().splitlines()
        one = sum(number for (of, _), number in wanted.items() if of == event)
        expect(f"sum of {weight}", one, sum(int(line.rpartition(" ")[2]) for line in lines))
    calls = export(trace, "collapsed", "--weight", "calls").read_text()
    expect("calls", "work;read [posix] 5000\n", calls)


def test_samples_in_speedscope(root: Path) -> None:
    trace = recorded(root)
    content = json.loads(export(trace, "speedscope").read_text())
    names = [frame["name"] for frame in content["shared"]["frames"]]
    got: Stacks = Counter()
    for profile in content["profiles"]:
        if profile["type"] != "sampled":
            continue
        expect("unit", "nanoseconds", profile["unit"])
        event = profile["name"].split(", ")[-1]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            got[event, tuple(names[frame] for frame in stack)] += weight
    expect("stacks", in_sql(trace), got)


def path_of(table: Dict[str, Any], prefix: str, place: Any, name: Callable[[int], str]) -> Tuple[str, ...]:
    """Functions of a stack whose table has a column `prefix` and one of frames."""
    names: List[str] = []
    while place is not None:
        names.append(name(table["frame"][place]))
        place = table[prefix][place]
    return tuple(reversed(names))


def test_samples_in_firefox(root: Path) -> None:
    trace = recorded(root)
    got: Stacks = Counter()
    for thread in json.loads(export(trace, "firefox").read_text())["threads"]:
        event = thread["name"].split(", ")[-1].split(" ")[-1]
        if event not in ("cpu-clock", "off-cpu"):
            continue

        def name(frame: int) -> str:
            return thread["stringArray"][thread["funcTable"]["name"][thread["frameTable"]["func"][frame]]]  # noqa: B023

        expect("what weights are", "tracing-ms", thread["samples"]["weightType"])
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            got[event, path_of(thread["stackTable"], "prefix", stack, name)] += round(weight * 1e6)
    expect("stacks", in_sql(trace), got)


def golden() -> Any:
    """The reader of protobuf that the exact outputs have."""
    loader = importlib.machinery.SourceFileLoader("golden_run", str(TOP / "tests" / "golden" / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("golden_run", loader))
    loader.exec_module(module)
    return module


def numbers(reader: Any, packed: bytes) -> Iterator[int]:
    at = 0
    while at < len(packed):
        value, at = reader.varint(packed, at)
        yield value


def test_samples_in_pprof(root: Path) -> None:
    trace = recorded(root)
    reader = golden()
    fields = reader.fields_of(gzip.decompress(export(trace, "pprof").read_bytes()))
    texts = [value.decode() for number, _, value in fields if number == 6]
    types = [dict((number, value) for number, _, value in reader.fields_of(one)) for n, _, one in fields if n == 1]
    names = [(texts[one[1]], texts[one[2]]) for one in types]
    functions = {}
    for _, _, one in (field for field in fields if field[0] == 5):
        facts = {number: value for number, _, value in reader.fields_of(one)}
        functions[facts[1]] = texts[facts[2]]
    got: Stacks = Counter()
    counted: Counter = Counter()
    for _, _, one in (field for field in fields if field[0] == 2):
        facts = {number: value for number, _, value in reader.fields_of(one)}
        stack = tuple(functions[place] for place in reversed(list(numbers(reader, facts[1]))))
        for (name, unit), value in zip(names, numbers(reader, facts[2])):
            if value and name in ("cpu-clock", "off-cpu"):
                expect(f"unit of {name}", "nanoseconds", unit)
                got[name, stack] += value
            if value and name.endswith(" samples"):
                counted[name] += value
    expect("stacks", in_sql(trace), got)
    wanted = {
        f"{row['event']} samples": row["n"]
        for row in rows(trace, "SELECT event, count(*) AS n FROM samples GROUP BY ALL")
    }
    expect("numbers of samples", Counter(wanted), counted)


def test_waits_in_chrome_and_perfetto(root: Path) -> None:
    trace = recorded(root)
    content = json.loads(export(trace, "chrome").read_text())
    frames = content["stackFrames"]
    got: Stacks = Counter()
    for sample in content["samples"]:
        names: List[str] = []
        place = sample.get("sf")
        while place is not None:
            names.append(frames[str(place)]["name"])
            place = frames[str(place)].get("parent")
        got[sample["name"], tuple(reversed(names))] += sample["weight"]
    expect("stacks in chrome", in_sql(trace), got)
    python = environment("v2", "requirements.txt") / "python"
    got = Counter()
    for _, event, _, _, _, weight, stack in json.loads(
        ran(python, HERE / "perfetto_slices.py", export(trace, "perfetto"))
    )["samples"]:
        got[event, tuple(stack)] += weight
    expect("stacks in perfetto", in_sql(trace), got)

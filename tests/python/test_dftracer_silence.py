# SPDX-License-Identifier: MIT
"""What a program annotated for DFTracer must not lose, or get otherwise than it asked, without a word."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

from kit import BUILD, FATHOM, expect, ran, rows
from test_dftracer import APP, PROGRAM, events_in, lines_of, settings, table_of, wait_for

BEGIN = {
    "1": "from dftracer.logger import dftracer, dft_fn, ai\nlog = dftracer.initialize_log(None, None, -1)\n",
    "2": "from dftracer.python import dftracer, dft_fn, ai\nlog = dftracer.initialize_log(None, None, -1)\n",
}
FACTS = """
import time
for _ in range(3):
    for fact in (ai.pipeline.epoch.start, ai.pipeline.epoch.stop):
        fact(metadata=True)
        time.sleep(0.001)  # their values are times in microseconds
for value in ('v', 'v', 'w'): log.log_metadata_event('k', value)
"""
COUNTED = """
from os import O_CREAT, O_RDWR, close, environ, open, pwrite
fn = dft_fn('T')
@fn.log
def f(): pass
for _ in range(30): f()
for _ in range(5):
    fd = open(environ['DFTRACER_DATA_DIR'] + '/file', O_CREAT | O_RDWR)
    pwrite(fd, b'abc', 0)
    close(fd)
log.log_event('ev', 'C', log.get_time(), 1500, {'n': (1, 5)})
log.finalize()
"""
TIMED = """
import time
from dftracer.python import get_time_scale
now, wall = log.get_time(), time.time_ns()
assert abs(now * UNIT - wall) < 5e9 and get_time_scale() == 1e9 / UNIT, (now, wall)
log.log_event('own', 'C', now, 7)
with dft_fn('A', name='a'): time.sleep(0.1)
log.finalize()
print(now)
"""
SELECTIVE = {"ENABLE_AGGREGATION": "1", "AGGREGATION_TYPE": "SELECTIVE", "TRACE_INTERVAL_MS": "3600000"}
RULES = """inclusion:
  - cat == 'T'
  - name IN {'close', 'pwrite64'}
  - open64
exclusion:
  - name LIKE 'pw*' OR cat == 'C'  # C is not included
"""
FACT_NAMES = ["epoch.start", "epoch.end"] * 3 + ["k"] * 3


def said(*command: Any, env: Dict[str, str]) -> List[str]:
    """The lines on stderr."""
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    expect(f"status of {command}: {done.stderr[-300:]}", 0, done.returncode)
    return done.stderr.splitlines()


def file_of(root: Path) -> List[Dict[str, Any]]:
    (log,) = root.glob("log*")
    return lines_of(log)


def test_recorded_without_its_switch(root: Path) -> None:
    """A recording takes the annotations of Python as it does those of C++, and no files are written."""
    for generation in ("1", "2"):
        place = root / generation
        variables = settings(place, ENABLE="")
        trace = place / "own.fathom"
        ran(FATHOM, "run", "-q", "-o", trace, "--", sys.executable, PROGRAM, generation, env=variables)
        sql = "SELECT name, category, count(*) AS n FROM events WHERE layer = 'app' GROUP BY ALL"
        expect("annotations", APP, {(row["name"], row["category"]): row["n"] for row in rows(trace, sql)})
        expect("files", [], [path.name for path in place.iterdir() if path.name not in ("data", "own.fathom")])


def test_facts_are_all_kept(root: Path) -> None:
    for generation, begin in BEGIN.items():
        place = root / generation
        ran(sys.executable, "-c", begin + FACTS + "log.finalize()\n", env=settings(place))
        told = [
            line["args"] for line in file_of(place) if line["name"] == "CM" and line["args"]["name"] != "time_metric"
        ]
        expect(f"facts of generation {generation}", FACT_NAMES, [fact["name"] for fact in told])
        expect("of one key", ["v", "v", "w"], [fact["value"] for fact in told if fact["name"] == "k"])
        expect("times of their own", 6, len({fact["value"] for fact in told if fact["name"] != "k"} | {""}) - 1)
    trace = root / "own.fathom"
    ran(FATHOM, "run", "-q", "-o", trace, "--", sys.executable, "-c", BEGIN["2"] + FACTS, env=settings(root, ENABLE=""))
    got = rows(
        trace, "SELECT args['k'] AS k FROM events WHERE category = 'dftracer' AND args['k'] IS NOT NULL ORDER BY ts"
    )
    expect("facts of the recording", ["v", "v", "w"], [row["k"] for row in got])


def test_the_end_has_its_time(root: Path) -> None:
    code = "import time\nwith dft_fn('A', name='a'): pass\ntime.sleep(0.3)\n"
    for generation, begin in BEGIN.items():
        for end in ("log.finalize()\n", ""):
            place = root / f"{generation}{bool(end)}"
            ran(sys.executable, "-c", begin + code + end, env=settings(place))
            times = {line["name"]: int(line["ts"]) for line in file_of(place) if "ts" in line}
            expect("0.3 s after the last event", True, 300_000 <= times["end"] - times["a"] < 5_000_000)


def test_nothing_hidden_is_left(root: Path) -> None:
    """When the program's parent goes on, whatever the end: also after workers, and of a program that was preloaded."""
    for how in ("finalize", "return", "_exit", "fork"):
        place = root / how
        subprocess.run([sys.executable, PROGRAM, "2", how], env={**os.environ, **settings(place)}, check=False)
        expect(f"hidden after {how}", [], list(place.glob(".*")))
        wanted = {**APP, ("step", "TRAIN"): 25, ("load", "IO"): 25} if how == "fork" else APP
        expect(f"annotations after {how}", wanted, table_of(place, "TRAIN", "IO", "LOOP"))
    place = root / "preloaded"
    preload = {"LD_PRELOAD": str(BUILD / "libdftracer_preload.so")}
    line = 'cat "$DFTRACER_DATA_DIR/file"; cp "$DFTRACER_DATA_DIR/file" "$DFTRACER_DATA_DIR/copy"'
    variables = {**settings(place, INIT="PRELOAD"), **preload}
    (place / "data" / "file").write_text("x" * 1000)
    expect(
        "status",
        0,
        subprocess.run(
            ["sh", "-c", line], env={**os.environ, **variables}, stdout=subprocess.DEVNULL, check=False
        ).returncode,
    )
    expect("hidden", [], list(place.glob(".*")))
    expect("reads of both", {"cat", "cp"}, {"cat", "cp"} if len(events_in(place)) >= 8 else events_in(place))


def test_a_relative_preload_finds_its_collector(root: Path) -> None:
    (root / "libs").symlink_to(BUILD)
    program = "import os; os.chdir('/'); os.close(os.open(os.environ['DFTRACER_DATA_DIR'] + '/file', os.O_CREAT))"
    for name in ("libs/libdftracer_preload.so", "./libs/libdftracer_preload.so"):
        place = root / name.replace("/", "-")
        variables = {**settings(place, INIT="PRELOAD"), "LD_PRELOAD": name}
        words = ["env", "-C", str(root), sys.executable, "-S", "-c", program]
        expect("said", [], said(*words[:3], "env", *[f"{k}={v}" for k, v in variables.items()], *words[3:], env={}))
        wait_for({("open64", "POSIX"): 1, ("close", "POSIX"): 1}, place, "POSIX")


BROKEN: List[Tuple[str, str, str]] = [
    ("features:\n  io:\n    posix: maybe\n", r"fathom: .*dft\.yaml, line 4: maybe is no value of this setting", "on"),
    (
        "features:\n\tio: 1\n",
        r"fathom: .*dft\.yaml, line 3: this is not understood; nothing of the file is used",
        "off",
    ),
    ("tracer\n  init: PRELOAD\n", r"fathom: .*dft\.yaml, line 2: this is not understood", "off"),
    ("tracer: 1\n  init: PRELOAD\n", r"fathom: .*dft\.yaml, line 3: this is not understood", "off"),
    ("tracer:\n  data_dirs: [a, b\n", r"fathom: .*dft\.yaml, line 3: this is not understood", "off"),
    ('tracer:\n  init: "PRELOAD\n', r"fathom: .*dft\.yaml, line 3: this is not understood", "off"),
]


def test_broken_settings_are_said_and_not_guessed(root: Path) -> None:
    """One line; a value that is none leaves the default, a file that is none leaves nothing."""
    code = BEGIN["2"] + "with dft_fn('A', name='a'): pass\nlog.finalize()\n"
    for number, (text, wanted, state) in enumerate(BROKEN):
        place = root / str(number)
        variables = settings(place, ENABLE="", CONFIGURATION=str(root / "dft.yaml"))
        (root / "dft.yaml").write_text("enable: true\n" + text)
        lines = said(sys.executable, "-c", code, env=variables)
        expect(f"one line like {wanted}: {lines}", [True], [re.match(wanted, line) is not None for line in lines])
        expect("events", {("a", "A"): 1} if state == "on" else {}, table_of(place, "A"))
    variables = settings(root, ENABLE="maybe")
    wanted = ["fathom: DFTRACER_ENABLE=maybe is neither on nor off and is ignored"]
    expect("a variable", wanted, said(sys.executable, "-c", code, env=variables))
    variables = settings(root, CONFIGURATION=str(root / "missing.yaml"))
    expect(
        "no file",
        [f"fathom: {root}/missing.yaml cannot be read and is ignored"],
        said(sys.executable, "-c", code, env=variables),
    )
    preload = {
        **settings(root, ENABLE="", CONFIGURATION=str(root / "dft.yaml")),
        "LD_PRELOAD": str(BUILD / "libfathom.so"),
    }
    expect("of a tree of programs", 1, len(said("sh", "-c", "cat /dev/null; cat /dev/null; true", env=preload)))


def test_settings_without_effect_are_said_once(root: Path) -> None:
    spawns = "from multiprocessing import get_context\nif __name__ == '__main__':\n"
    spawns += "    with get_context('spawn').Pool(2) as pool: pool.map(abs, range(4))\n"
    (root / "program.py").write_text(BEGIN["2"] + spawns)
    variables = settings(root, LOG_LEVEL="INFO", BIND_SIGNALS="1", INC_METADATA="1")
    wanted = ["fathom: no effect here: DFTRACER_LOG_LEVEL, DFTRACER_BIND_SIGNALS"]
    expect("said", wanted, said(sys.executable, root / "program.py", env=variables))
    place = root / "another run"  # who ends last of the first one may still be there
    variables = settings(place, **SELECTIVE, AGGREGATION_FILE="missing.yaml")
    wanted = ["fathom: missing.yaml cannot be read and is ignored"]
    wanted += ["fathom: no effect here: DFTRACER_AGGREGATION_FILE (no event is added up)"]
    expect("said", wanted, said(sys.executable, "-c", BEGIN["2"] + COUNTED, env=variables))
    expect("events", 30, table_of(place, "T")[("f", "T")])


def test_time_metric(root: Path) -> None:
    for metric, ns in (("NS", 1), ("US", 1000), ("MS", 10**6), ("SEC", 10**9)):
        place = root / metric
        variables = settings(place, TIME_METRIC=metric)
        now = int(ran(sys.executable, "-c", BEGIN["2"] + TIMED.replace("UNIT", str(ns)), env=variables))
        lines = file_of(place)
        expect("the file says so", metric, next(line["args"]["value"] for line in lines if line["name"] == "CM"))
        by_name = {line["name"]: line for line in lines if "ts" in line}
        expect("the program's own times", (now, 7), (by_name["own"]["ts"], by_name["own"]["dur"]))
        around = [by_name[name]["ts"] for name in ("start", "own", "a", "end")]
        expect("in order", around, sorted(around))
        expect("0.1 s", True, 10**8 // ns <= by_name["a"]["dur"] + 1 and by_name["a"]["dur"] * ns < 5 * 10**9)


def test_aggregation(root: Path) -> None:
    """One line for the events of a name in an interval: their number, and the least, most and sum of their numbers."""
    variables = settings(root, ENABLE_AGGREGATION="1", TRACE_INTERVAL_MS="3600000", INC_METADATA="1")
    ran(sys.executable, "-c", BEGIN["2"] + COUNTED, env=variables)
    lines = [line for line in file_of(root) if line["ph"] == 3]
    expect("events alone", [], [event["name"] for event in events_in(root)])
    found = {line["name"]: line for line in lines}
    counts = {name: line["args"]["dft_cnt"] for name, line in found.items()}
    expect("counted", {"f": 30, "open64": 5, "pwrite64": 5, "close": 5, "ev": 1}, counts)
    written = found["pwrite64"]["args"]
    expect("sums", (3, 3, 15), tuple(written[f"ret_{kind}"] for kind in ("min", "max", "sum")))
    alone = {key: value for key, value in found["ev"]["args"].items() if key != "hhash"}
    expect("one alone", {"dur": 1500, "n": 5, "dft_cnt": 1}, alone)
    expect("where an interval begins", {0}, {line["ts"] % 3_600_000_000 for line in lines})
    (log,) = root.glob("log*")
    ran(FATHOM, "import", log, "-o", root / "own.fathom")
    got = rows(root / "own.fathom", "SELECT sum(calls) AS n FROM intervals")
    expect("imported", 46, int(got[0]["n"]))


def test_aggregation_of_what_rules_choose(root: Path) -> None:
    rules = root / "rules.yaml"
    rules.write_text(RULES)
    (root / "dft.yaml").write_text(f"features:\n  aggregation:\n    type: SELECTIVE\n    file: {rules}\n")
    ways = {"variable": {**SELECTIVE, "AGGREGATION_FILE": str(rules)}}
    ways["file"] = {**SELECTIVE, "AGGREGATION_TYPE": "", "CONFIGURATION": str(root / "dft.yaml")}
    for way, more in ways.items():
        place = root / way
        lines = said(sys.executable, "-c", BEGIN["2"] + COUNTED, env=settings(place, INC_METADATA="1", **more))
        expect("said", [f"fathom: {rules}, line 4: open64 is no rule, or one too many, and is left out"], lines)
        counts = {line["name"]: line["args"]["dft_cnt"] for line in file_of(place) if line["ph"] == 3}
        expect("counted", {"f": 30, "close": 5}, counts)
        expect("one by one", {("open64", "POSIX"): 5, ("pwrite64", "POSIX"): 5, ("ev", "C"): 1}, table_of(place))

# SPDX-License-Identifier: MIT
"""What users of TAU, Waggle's profiler and Kubernetes get, held against their own tools and against arithmetic."""

import csv
import json
import struct
import sys
import xml.etree.ElementTree as Xml
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

from kit import FATHOM, TOP, Failure, answers, environment, expect, ran, rows

# work() runs once and calls stretch() three times, which turns its loop four times.
PROGRAM = """
import time
def stretch():
    total = 0
    for step in range(4):
        total += sum(range(20000))
    return total
def work():
    for _ in range(3):
        stretch()
        time.sleep(0.12)
work()
"""
CALLS = {"stretch": 3, "work": 1}


def recorded(root: Path) -> Path:
    program, trace = root / "app.py", root / "app.fathom"
    if not trace.exists():
        program.write_text(PROGRAM)
        options = ["--layers", "python,resource", "--python-modules", "__main__", "--python-loops", "__main__"]
        ran(FATHOM, "run", "-q", "-o", trace, *options, "--", sys.executable, program)
    return trace


def read_csv(path: Path) -> List[List[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


HATCHET = """
import json, sys, hatchet
frame = hatchet.GraphFrame.from_tau(sys.argv[1]).dataframe
print(json.dumps([[name, time] for name, time in zip(frame["name"], frame["time (inc)"])]))
"""


def test_hatchet_reads_our_tau_profile(root: Path) -> None:
    python = environment("hatchet", "requirements-hatchet.txt") / "python"
    trace, out = recorded(root), root / "tau"
    ran(FATHOM, "export", trace, "--format", "tau", "-o", out)
    said = json.loads(ran(python, "-c", HATCHET, out).splitlines()[-1])
    wanted = rows(trace, "SELECT sum(dur) / 1e3 AS us FROM events WHERE name = 'stretch'")[0]["us"]
    got = sum(time for name, time in said if name == "stretch")
    expect("microseconds in stretch", round(wanted), round(got))


def test_tau_there_and_back(root: Path) -> None:
    trace, out, back = recorded(root), root / "tau", root / "tau.fathom"
    ran(FATHOM, "export", trace, "--format", "tau", "-o", out)
    ran(FATHOM, "import", out, "-o", back)
    sql = "SELECT name, CAST(sum(calls) AS BIGINT) AS n, CAST(sum(dur) AS BIGINT) AS ns FROM intervals GROUP BY 1"
    got = {row["name"]: row for row in rows(back, sql)}
    expect("calls", CALLS, {name: got[name]["n"] for name in CALLS})
    sums = rows(trace, "SELECT name, CAST(sum(dur) AS BIGINT) AS ns FROM events GROUP BY 1")
    expect("ns", {row["name"]: row["ns"] for row in sums if row["name"] in CALLS}, {n: got[n]["ns"] for n in CALLS})
    own = rows(back, "SELECT name FROM summary ORDER BY self DESC LIMIT 1")[0]["name"]
    expect("most own time", True, own.startswith(("stretch", "work")))


def test_a_damaged_tau_profile(root: Path) -> None:
    """Rows that are none are counted, and the others are read."""
    lines = ["2 templated_functions_MULTI_TIME", "# Name Calls Subrs Excl Incl ProfileCalls #"]
    lines += ['"main() [{a.c} {1,1}-{9,1}]" 1 1 5 10 0 GROUP="TAU_USER"', '"bad" x y', "0 aggregates"]
    (root / "profile.3.0.2").write_text("\n".join(lines) + "\n")
    ran(FATHOM, "import", root / "profile.3.0.2", "-o", root / "back")
    got, lost = answers(root / "back", "SELECT pid, name, file, calls, dur FROM intervals", "SELECT * FROM losses")
    expect("rows", [{"pid": 3, "name": "main()", "file": "a.c", "calls": 1, "dur": 10000}], got)
    expect("damaged lines", [1], [row["count"] for row in lost])


def test_waggles_files(root: Path) -> None:
    trace, out = recorded(root), root / "waggle"
    ran(FATHOM, "export", trace, "--format", "waggle", "-o", out)
    functions, loops, stats = (read_csv(out / name) for name in ("ftimes.csv", "ltimes.csv", "stats.csv"))
    expect("headers", [["time", "name"], ["time", "name"]], [functions[0], loops[0]])
    names = Counter(row[1] for row in functions[1:])
    for name, calls in CALLS.items():
        expect(name, (calls, calls), (names[f"In Function {name}()"], names[f"Leaving Function {name}()"]))
    turns = Counter(row[1] for row in loops[1:])
    expect("turns", {"Top of For Loop": 15, "Bottom of For Loop": 15}, dict(turns))
    for table in (functions, loops, stats):
        times = [float(row[0]) for row in table[1:]]
        expect("times in order", sorted(times), times)
    cpus = rows(trace, "SELECT value AS n FROM run WHERE key = 'host.cores'")[0]["n"]
    expect("columns", ["time", *["CPU"] * int(cpus), "Memory%"], stats[0])
    expect("values", {len(stats[0])}, {len(row) for row in stats[1:]})
    expect("shares", True, all(0 <= float(value) <= 100 for row in stats[1:] for value in row[1:]))
    ran(FATHOM, "import", out, "-o", root / "back")
    got = rows(root / "back", "SELECT name, count(*) AS n FROM events GROUP BY 1 ORDER BY 1")
    expect("read back", {**CALLS, "For Loop": 15}, {row["name"]: row["n"] for row in got if row["name"][0] != "<"})


def theirs(root: Path) -> Path:
    """Files as Waggle itself writes them: six CPUs, a function that is left by an exception, one that never ends."""
    folder = root / "theirs"
    folder.mkdir(exist_ok=True)
    start = 1_600_000_000
    stats = [
        f"{start + i / 8:.3f}," + "".join(f"{(i * 7 + cpu) % 100}," for cpu in range(6)) + "41.5" for i in range(80)
    ]
    (folder / "stats.csv").write_text("\n".join(["time," + "CPU," * 6 + "Memory%", *stats]) + "\n")
    words = ["In Function dive()", "In Function lost()", "Leaving Function dive()", "In Function rise()"]
    (folder / "ftimes.csv").write_text("time,name\n" + "".join(f"{start + 1 + i},{w}\n" for i, w in enumerate(words)))
    words = ["Top of For Loop", "Bottom of For Loop", "Bottom of While Loop", "nonsense"]
    (folder / "ltimes.csv").write_text("time,name\n" + "".join(f"{start + 1 + i},{w}\n" for i, w in enumerate(words)))
    return folder


def test_files_of_waggle_itself(root: Path) -> None:
    ran(FATHOM, "import", theirs(root), "-o", root / "back")
    events, lost = answers(
        root / "back",
        "SELECT name, ts // 1000000 AS begin, dur // 1000000 AS ms FROM events ORDER BY ts, name",
        "SELECT reason, count FROM losses ORDER BY 1",
    )
    wanted = [["For Loop", 1000, 1000], ["dive", 1000, 2000], ["lost", 2000, 1000], ["rise", 4000, 5875]]
    expect("events", wanted, [list(row.values()) for row in events])
    expect("what is lost has a name", [1, 1, 2], [row["count"] for row in lost])


def texts_of(path: Path) -> List[str]:
    root = Xml.parse(str(path)).getroot()
    return ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith(("text", "title"))]


def test_plots(root: Path) -> None:
    """A panel for each CPU and one for memory, and the functions; nothing is loaded."""
    ran(FATHOM, "plot", recorded(root), "-o", root / "own.svg")
    texts = texts_of(root / "own.svg")
    expect("words", [], [word for word in ("CPU 0", "work", "stretch") if word not in texts])
    ran(FATHOM, "plot", theirs(root), "-o", root / "theirs.svg")
    texts = texts_of(root / "theirs.svg")
    expect("panels", [f"CPU {cpu}" for cpu in range(6)], sorted(text for text in texts if text.startswith("CPU")))
    expect("memory, functions", [], [word for word in ("Memory%", "dive", "rise", "For Loop") if word not in texts])
    expect("loaded from elsewhere", False, "href" in (root / "theirs.svg").read_text())
    try:
        ran(FATHOM, "plot", theirs(root), "-o", root / "theirs.png")
    except Failure as failure:
        expect("why there is no PNG", True, "librsvg" in str(failure))
        return
    head = (root / "theirs.png").read_bytes()[:24]
    expect("a PNG", b"\x89PNG\r\n\x1a\n", head[:8])
    expect("pixels", True, min(struct.unpack(">II", head[16:])) > 200)


def test_needs_are_arithmetic(root: Path) -> None:
    trace = recorded(root)
    profile: Dict[str, Any] = json.loads(ran(FATHOM, "needs", trace, "--format", "json"))
    functions = {row["name"]: row for row in profile["functions"]}
    expect("calls", CALLS, {name: functions[name]["calls"] for name in CALLS})
    loops = {row["line"]: (row["kind"], row["function"], row["runs"], row["turns"]) for row in profile["loops"]}
    expect("loops", {5: ("for", "stretch", 3, 12), 9: ("for", "work", 1, 3)}, loops)
    asked = rows(
        trace,
        """WITH held AS (SELECT sum(value) AS s FROM counters WHERE name = 'rss' GROUP BY ts)
           SELECT (SELECT max(s) FROM held) AS memory, (SELECT median(s) FROM held) AS usual,
                  (SELECT sum(v) FROM (SELECT max(value) AS v FROM counters WHERE name IN ('cpu_user', 'cpu_system')
                                       GROUP BY pid, name)) AS cpu,
                  (SELECT sum(dur) / 1e9 FROM events WHERE name = 'stretch') AS stretch""",
    )[0]
    needs, wall = profile["needs"], profile["runs"][0]["wall"]
    expect(
        "memory", [asked["memory"], asked["usual"]], [needs["memory_bytes"]["peak"], needs["memory_bytes"]["typical"]]
    )
    expect("cores", round(asked["cpu"] / wall, 6), round(needs["cpu_cores"]["typical"], 6))
    expect("time of stretch", round(asked["stretch"], 6), round(functions["stretch"]["total"], 6))
    own = functions["work"]["total"] - functions["stretch"]["total"]
    expect("own time of work", round(own, 6), round(functions["work"]["self"], 6))
    page = ran(FATHOM, "needs", trace, "--format", "html")
    expect("numbers on the page", True, profile["recommend"]["limits"]["memory"] in page and "stretch" in page)
    expect("loaded from elsewhere", False, "src=" in page or "url(" in page)


SCHEMAS = """
import sys, yaml, kubernetes_validate as kubernetes
for path in sys.argv[1:]:
    for one in yaml.safe_load_all(open(path)):
        kubernetes.validate(one, kubernetes.latest_version(), strict=True)
        print(one["kind"])
"""


def test_manifests_are_what_kubernetes_takes(root: Path) -> None:
    """The files of packaging/kubernetes against the published schemas, and the patch that we print."""
    files = sorted((TOP / "packaging" / "kubernetes").glob("*.yaml"))
    for path in files:
        text = path.read_text()
        expect(f"{path.name}: rights", (False, True), ("privileged: true" in text, 'drop: ["ALL"]' in text))
    python = environment("kubernetes", "requirements-kubernetes.txt") / "python"
    expect("kinds", ["Job", "Namespace", "ConfigMap", "DaemonSet"], ran(python, "-c", SCHEMAS, *files).split())
    patch = ran(FATHOM, "needs", recorded(root), "--format", "patch", "--name", "web")
    whole = patch.replace("spec:\n", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n", 1)
    whole = whole.replace("  template:\n", "  selector: {matchLabels: {app: web}}\n  template:\n", 1)
    (root / "patched.yaml").write_text(whole)
    expect("the patch, in a deployment", ["Deployment"], ran(python, "-c", SCHEMAS, root / "patched.yaml").split())

# SPDX-License-Identifier: MIT
"""Every function of a Python program that was not changed, on every Python that is here."""

import shutil
from pathlib import Path
from typing import Any

from kit import BUILD, FATHOM, TOP, Failure, answers, column, expect, ran, rows
from test_annotations import PROGRAMS, STRICT, by_name, one_column, pythons

CALLS = {"leaf": 1 + 1 + 5 + 1, "numbers": 5 + 2 + 2, "sail": 1, "fails": 1, "catches": 1, "deep": 601, "stopped": 1}
CALLS.update({"waits": 16, "threads": 1, "main": 1, "tasks": 2})
LOOPS = {"nested.<for 9>": (3, 24), "nested.<for 10>": (24, 96), "nested.<while 14>": (3, 15)}
LOOPS.update({"nested.<while 16>": (3, 24), "nested.<comprehension 20>": (3, 18), "yields.<for 24>": (6, 5)})
LOOPS.update({"reads.<async for 34>": (1, 3), "stream.<for 29>": (4, 3), "returns.<for 39>": (1, 4)})
LOOPS.update({"raises.<for 46>": (1, 5), "raises.<for 51>": (1, 2), "retries.<while 57>": (1, 3)})
LOOPS.update({"<module>.<for 67>": (1, 3)})
NAMES = "SELECT DISTINCT name FROM events ORDER BY 1"


def traced(root: Path, *command: Any, options: Any = ()) -> Path:
    trace = root / "calls.fathom"
    ran(FATHOM, "run", "-q", "--force", "-o", trace, "--layers", "python", *options, "--", *command)
    return trace


def count_where(condition: str) -> str:
    return f"SELECT split_part(name, '.', -1) AS name, count(*) AS n FROM events WHERE {condition} GROUP BY 1"


def newest() -> str:
    return list(pythons().values())[-1]


def test_every_call_is_there_once(root: Path) -> None:
    for version, python in pythons().items():
        trace = traced(root, python, *STRICT, PROGRAMS / "calls.py")
        names = ", ".join(f"'{name}'" for name in CALLS)
        own = f"category = '__main__' AND split_part(name, '.', -1) IN ({names})"
        wanted = {**CALLS, "numbers": 8} if version == "3.13" else CALLS  # close() no longer runs it there
        inside = """SELECT count(*) FROM events c WHERE c.category = '__main__' AND c.name = 'fails' AND EXISTS (
            SELECT 1 FROM events p WHERE p.name = 'catches' AND p.tid = c.tid AND p.depth + 1 = c.depth
            AND p.ts <= c.ts AND p.ts + p.dur >= c.ts + c.dur)"""
        place = "SELECT args['file'] || ':' || args['line'] FROM events WHERE name = 'main' AND category = '__main__'"
        calls, losses, nested, places = answers(trace, count_where(own), "SELECT * FROM losses", inside, place)
        expect(f"Python {version}", wanted, by_name(calls))
        expect(f"Python {version}, losses", [], losses)
        expect(f"Python {version}, nested", [1], column(nested))
        expect(f"Python {version}, place", [f"{PROGRAMS / 'calls.py'}:68"], column(places))


def test_calls_that_python_makes_by_itself(root: Path) -> None:
    """Methods behind operators and attributes, when the interpreter is warm; on the system's own Python, too."""
    program = """class Ship:
    def __getitem__(self, key): return key
    def __getattr__(self, name): return name
    def __call__(self): return 1
    @property
    def far(self): return 1
def main():
    ship = Ship()
    for i in range(100): ship[i]; ship.nothing; ship(); ship.far
main()"""
    others = [python for python in ("/usr/bin/python3",) if Path(python).exists()]
    for python in [*pythons().values(), *others]:
        trace = traced(root, python, "-c", program, options=["--python-modules", "__main__"])
        wanted = dict.fromkeys(("__getitem__", "__getattr__", "__call__", "far"), 100)
        names = ", ".join(f"'{name}'" for name in wanted)
        own = count_where(f"split_part(name, '.', -1) IN ({names})")
        reasons, calls = answers(trace, "SELECT reason FROM layers WHERE layer = 'python'", own)
        if "no extension" in str(reasons):
            continue
        expect(python, wanted, by_name(calls))


def test_filters(root: Path) -> None:
    for version, python in pythons().items():
        program = [python, PROGRAMS / "calls.py"]
        trace = traced(root, *program, options=["--python-modules", "__main__"])
        modules = one_column(trace, "SELECT DISTINCT category FROM events")
        expect(f"Python {version}, modules", ["__main__"], modules)
        trace = traced(root, *program, options=["--python-modules", "-__main__,-importlib*,-site"])
        left_out = "SELECT count(*) FROM events WHERE category IN ('__main__', 'site')"
        expect(f"Python {version}, left out", [0], one_column(trace, left_out))
        trace = traced(root, *program, options=["--python-paths", PROGRAMS, "--python-depth", "2"])
        deepest = "SELECT max(depth) FROM events WHERE pid = (SELECT arg_min(pid, start) FROM processes)"
        names, depth = (column(answer) for answer in answers(trace, NAMES, deepest))
        expect(f"Python {version}, depth", ["<module>", "main"], names[:1] + names[-1:])
        expect(f"Python {version}, depth", [1], depth)
        trace = traced(root, *program, options=["--python-min", "1000s"])
        expect(f"Python {version}, long ones", [], one_column(trace, NAMES))


def test_calls_of_c(root: Path) -> None:
    program = "def f(x):\n    for _ in range(10): x.append(len('four'))\nf([])"
    for version, python in pythons().items():
        trace = traced(root, python, "-c", program, options=["--python-modules", "__main__", "--python-c"])
        wanted = {"<module>": 1, "f": 1, "list.append": 10, "len": 10}
        sides = "SELECT DISTINCT category FROM events WHERE name IN ('len', 'list.append')"
        calls, modules = answers(trace, "SELECT name, count(*) AS n FROM events GROUP BY 1", sides)
        expect(f"Python {version}", wanted, {name: by_name(calls).get(name) for name in wanted})
        expect(f"Python {version}", ["builtins"], column(modules))


def test_loops(root: Path) -> None:
    for version, python in pythons().items():
        options = ["--python-modules", "__main__", "--python-loops", "__main__"]
        trace = traced(root, python, *STRICT, PROGRAMS / "loops.py", options=options)
        sql = """SELECT name, count(*) AS runs, sum(CAST(args['iterations'] AS INT)) AS turns FROM events
            WHERE args['iterations'] IS NOT NULL GROUP BY 1"""
        seen = "SELECT function || '.<' || kind || ' ' || line || '>' AS name, runs, turns, file, module FROM loops"
        longer = """SELECT count(*) FROM events o JOIN events i ON i.name = 'nested.<for 10>' AND o.name =
            'nested.<for 9>' AND i.ts >= o.ts AND i.ts + i.dur <= o.ts + o.dur AND i.depth = o.depth + 1"""
        calls, told, nested = answers(trace, sql, seen, longer)
        expect(f"Python {version}", LOOPS, {row["name"]: (row["runs"], row["turns"]) for row in calls})
        # A generator goes on with its loop: in the view that is one run.
        begun = {**LOOPS, "yields.<for 24>": (1, 5), "stream.<for 29>": (1, 3)}
        expect(f"Python {version}, view", begun, {row["name"]: (row["runs"], row["turns"]) for row in told})
        expect("where", {(str(PROGRAMS / "loops.py"), "__main__")}, {(row["file"], row["module"]) for row in told})
        expect(f"Python {version}, nested", [24], column(nested))
        trace = traced(root, python, PROGRAMS / "loops.py", options=[*options, "--python-turns", "2"])
        turns = "SELECT count(*) FROM events WHERE args['turn'] IS NOT NULL AND name = 'returns.<for 39>'"
        whole = "SELECT bool_and(self <= total AND self > 0) FROM loops"
        capped = "SELECT count FROM losses WHERE reason = 'beyond the number asked for'"
        two, within, lost = (column(answer) for answer in answers(trace, turns, whole, capped))
        expect(f"Python {version}, turns", [2], two)
        expect(f"Python {version}, turns are the loop's time", [True], within)
        if lost[0] < 100:
            raise Failure(f"Python {version}: turns that were not recorded are not counted")


def test_a_recursion_deeper_than_the_c_stack(root: Path) -> None:
    program = "import sys; sys.setrecursionlimit(10**6)\ndef f(n): return f(n - 1) if n else 0\nprint(f(N))"
    for version, python in pythons().items():
        deep = "3000" if int(version.split(".")[1]) < 11 else "50000"  # before 3.11 Python itself would crash
        output = root / "said"
        trace = traced(root, "sh", "-c", f'"$@" > {output}', "sh", python, "-c", program.replace("N", deep))
        expect(f"Python {version}", "0\n", output.read_text())
        lost = "SELECT coalesce(sum(count), 0) FROM losses WHERE reason LIKE '%too deep%'"
        both = answers(trace, lost, "SELECT count(*) FROM events WHERE name = 'f'")
        counted, calls = (column(answer)[0] for answer in both)
        if calls + counted < 3000:
            raise Failure(f"Python {version}: {calls} calls, {counted} counted as too deep")


def test_a_python_without_the_extension_says_so(root: Path) -> None:
    folder = root / "apart"
    folder.mkdir()
    for name in ("fathom", "libfathom.so", "libduckdb.so"):
        if (BUILD / name).exists():
            shutil.copy(BUILD / name, folder / name)
    program = "import fathom\n@fathom.trace\ndef f(): pass\nf(); print('ran')"
    trace = root / "none.fathom"
    for package, wanted in ((root, "ran"), (TOP / "python", "ran")):
        text = program if package != root else "print('ran')"
        variables = {"PYTHONPATH": str(package), "FATHOM_BUILD": str(folder)}
        command = [folder / "fathom", "run", "-q", "--force", "-o", trace, "--layers", "app,python", "--", newest()]
        expect("said", f"{wanted}\n", ran(*command, "-c", text, env=variables))
        reasons = {row["layer"]: row["reason"] for row in rows(trace, "SELECT layer, reason FROM layers")}
        if "no extension of Fathom" not in reasons["python"]:
            raise Failure(f"the reason of layer python: {reasons['python']}")
    if "no extension of Fathom" not in reasons["app"]:
        raise Failure(f"the reason of layer app: {reasons['app']}")


def test_options_without_the_layer_are_refused(root: Path) -> None:
    try:
        ran(FATHOM, "run", "-o", root / "x", "--layers", "posix", "--python-depth", "2", "--", "true")
    except Failure as failure:
        expect("status", True, "exit 2" in str(failure) and "+python" in str(failure))
        return
    raise Failure("was not refused")

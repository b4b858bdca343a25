# SPDX-License-Identifier: MIT
"""Loops of every form, on every Python that is here; before 3.12 modules are rewritten, which nobody may notice."""

import os
import re
import shutil
from pathlib import Path
from typing import Any, Dict, List, Tuple

from kit import FATHOM, Failure, Skip, answers, expect, ran, rows
from test_annotations import PROGRAMS, STRICT, pythons

Turns = Dict[str, Tuple[int, int]]  # of a loop: how often it began to run, and how often it turned
FULL = os.environ.get("FATHOM_FULL") == "1"
TURNS: Turns = {"<genexpr>.<comprehension 219>": (0, 0), "<module>.<for 191>": (1, 2), "Ship.<for 89>": (1, 3)}
TURNS.update({"Ship.<comprehension 91>": (1, 4), "Ship.sail.<for 95>": (1, 2)})
TURNS.update({"Ship.sail.<locals>.<lambda>.<comprehension 103>": (1, 3), "Ship.sail.<locals>.inner.<for 99>": (2, 6)})
TURNS.update({"awaits.<for 157>": (4, 3), "awaits.<comprehension 162>": (1, 2), "cleans.<for 33>": (1, 2)})
TURNS.update({"cleans.<for 37>": (1, 3), "cleans.<for 42>": (3, 6), "cleans.<for 44>": (1, 3)})
TURNS.update({"cleans.<for 50>": (1, 2), "comprehensions.<comprehension 107>": (1, 4)})
TURNS.update({"comprehensions.<comprehension 108>": (5, 12), "comprehensions.<comprehension 109>": (1, 3)})
TURNS.update({"comprehensions.<locals>.<genexpr>.<comprehension 110>": (5, 4)})
TURNS.update({"comprehensions.<comprehension 111>": (1, 4), "comprehensions.<comprehension 112>": (4, 10)})
TURNS.update({"comprehensions.<comprehension 113>": (1, 4), "conditions.<while 68>": (1, 2)})
TURNS.update({"conditions.<while 71>": (1, 3), "conditions.<while 73>": (1, 4), "conditions.<while 75>": (1, 1)})
TURNS.update({"conditions.<while 77>": (1, 6), "delegates.<for 138>": (11, 2), "drains.<async for 213>": (1, 0)})
TURNS.update({"drains.<comprehension 215>": (3, 2), "escapes.<for 174>": (1, 2), "escapes.<for 176>": (2, 6)})
TURNS.update({"exits.<for 12>": (2, 8), "exits.<for 19>": (2, 10), "exits.<while 23>": (2, 10)})
TURNS.update({"made.<for 121>": (1, 2), "one_liners.<for 166>": (1, 3), "one_liners.<while 167>": (1, 2)})
TURNS.update({"one_liners.<for 168>": (1, 2), "recurses.<for 185>": (4, 4), "searches.<for 60>": (1, 3)})
TURNS.update({"throws.<for 143>": (2, 2), "ticks.<for 151>": (5, 2), "yields.<for 128>": (12, 9)})
TURNS.update({"yields.<while 129>": (15, 9), "yields.<locals>.<genexpr>.<comprehension 134>": (9, 6)})
TURNS.update({"annotated.<comprehension 223>": (2, 5)})
COUNTS = """SELECT name, count(*) AS runs, sum(CAST(args['iterations'] AS INT)) AS turns FROM events
    WHERE args['iterations'] IS NOT NULL GROUP BY 1"""
# A loop is a level like a call: what runs in it lies within it, one level deeper at least.
NESTED = """SELECT count(*) AS n FROM events l JOIN events f ON f.tid = l.tid AND f.ts >= l.ts
    AND f.ts + f.dur <= l.ts + l.dur AND f.depth > l.depth WHERE l.name = 'recurses.<for 185>'
    AND f.name = 'recurses'"""
SOME = ["textwrap", "heapq", "json", "csv", "difflib", "tokenize", "string", "statistics", "fractions", "ast", "copy"]
MORE = "argparse configparser decimal email.message html.parser http.client logging pprint random shlex sched tarfile"
MORE += " tempfile typing unittest urllib.parse xml.dom.minidom zipfile"
SUITES = "heapq textwrap generators coroutines asyncgen grammar listcomps genexps with scope"


def old() -> Dict[str, str]:
    """Before 3.12: the oldest and the newest; with FATHOM_FULL all."""
    found = {version: python for version, python in pythons().items() if int(version.split(".")[1]) < 12}
    if not found:
        raise Skip("no Python before 3.12 is here")
    return found if FULL else {version: found[version] for version in (next(iter(found)), list(found)[-1])}


def recorded(root: Path, *command: Any, module: str = "__main__", env: Any = None) -> Path:
    trace = root / "loops.fathom"
    options = ["--layers", "python", "--python-modules", module, "--python-loops", module]
    ran(FATHOM, "run", "-q", "--force", "-o", trace, *options, "--", *command, env=env)
    return trace


def turns_of(answer: List[Dict[str, Any]]) -> Turns:
    return {row["name"]: (row["runs"], row["turns"]) for row in answer if "219" not in row["name"]}


def test_turns_of_every_form(root: Path) -> None:
    wanted = {name: count for name, count in TURNS.items() if "219" not in name}  # of the names that it prints
    for version, python in pythons().items():
        trace = recorded(root, python, *STRICT, PROGRAMS / "turns.py")
        counts, losses, nested = answers(trace, COUNTS, "SELECT * FROM losses", NESTED)
        expect(f"Python {version}", wanted, turns_of(counts))
        expect(f"Python {version}, losses", [], losses)
        expect(f"Python {version}, nested", [3 + 2 + 1], [row["n"] for row in nested])


def test_continue_is_a_turn_of_the_same_loop(root: Path) -> None:
    """In the bytecode of 3.12 and 3.13, `continue` jumps to another place than the end of the body does."""
    body = ["turn += 1", "if turn % 2:", "    continue", "if turn == 6:", "    break"]
    lines = ["def broken():", "    turn = 0", "    while True:", *[f"        {line}" for line in body], "broken()"]
    program = root / "program.py"
    program.write_text("\n".join(lines) + "\n")
    for version, python in pythons().items():
        trace = recorded(root, python, program)
        expect(f"Python {version}", {"broken.<while 3>": (1, 6)}, turns_of(rows(trace, COUNTS)))


def test_every_way_to_start(root: Path) -> None:
    """A script, -m, -c, a module with and without its compiled file: neither is used, neither is changed."""
    folder = root / "program"
    folder.mkdir()
    text = "def work():\n    for i in range(4):\n        pass\nwork()\n"
    (folder / "thing.py").write_text(text)
    ways = {"script": ["thing.py"], "-m": ["-m", "thing"], "-c": ["-c", text]}
    for version, python in old().items():
        for way, words in ways.items():
            trace = recorded(root, "env", "-C", folder, python, *words)
            expect(f"Python {version}, {way}", {"work.<for 2>": (1, 4)}, turns_of(rows(trace, COUNTS)))
        imports = ["env", "-C", folder, "PYTHONDONTWRITEBYTECODE=", python, "-c", "import thing"]
        ran(*imports)
        compiled = {path: path.read_bytes() for path in (folder / "__pycache__").iterdir()}
        for _ in range(2):
            trace = recorded(root, *imports, module="thing")
            expect(f"Python {version}, import", {"work.<for 2>": (1, 4)}, turns_of(rows(trace, COUNTS)))
            again = {path: path.read_bytes() for path in (folder / "__pycache__").iterdir()}
            expect(f"Python {version}, compiled files", compiled, again)
            for path in compiled:
                path.unlink()  # the second time, recording makes it
        shutil.rmtree(folder / "__pycache__")


def test_threads_and_workers(root: Path) -> None:
    wanted = {"work.<for 9>": (8 + 10 + 10, 8 * 1000 + 20 * 100)}
    wanted.update({"main.<comprehension 14>": (1, 8), "main.<for 15>": (1, 8)})
    wanted.update({"main.<for 17>": (1, 8), "main.<for 19>": (1, 2)})
    for version, python in old().items():
        trace = recorded(root, python, PROGRAMS / "workers.py", module="__main__,__mp_main__")
        expect(f"Python {version}", wanted, turns_of(rows(trace, COUNTS)))


def test_what_cannot_be_rewritten_is_counted(root: Path) -> None:
    """Code without a source, and a source that has changed since."""
    folder = root / "program"
    folder.mkdir()
    program = "exec('for i in range(3): pass')\nimport thing\nthing.work()\n"
    (folder / "thing.py").write_text("def work():\n    for i in range(4):\n        pass\n")
    for version, python in old().items():
        ran("env", "-C", folder, python, "-m", "compileall", "-q", "-b", "thing.py")
        (folder / "thing.py").rename(folder / "kept")
        trace = recorded(root, "env", "-C", folder, python, "-c", program, module="*")
        (folder / "kept").rename(folder / "thing.py")
        (folder / "thing.pyc").unlink()
        where = "SELECT sum(count) AS n FROM losses WHERE layer = 'python' AND reason LIKE '%loops%'"
        counted, seen = answers(trace, where, COUNTS)
        if (counted[0]["n"] or 0) < 2:
            raise Failure(f"Python {version}: {counted[0]['n']} losses, of an exec and a compiled module")
        expect(f"Python {version}", False, "work.<for 2>" in turns_of(seen))


def test_numbas_functions_stay_as_they_are(root: Path) -> None:
    """Others that read the code of a function must know all of it."""
    program = "def njit(f):\n    print(f.__code__.co_consts)\n    return f\n"
    program += "@njit\ndef work():\n    for i in range(4): pass\nwork()"
    for version, python in old().items():
        said = root / "said"
        recorded(root, "sh", "-c", f'"$@" > {said}', "sh", python, "-c", program)
        expect(f"Python {version}", ran(python, "-c", program), said.read_text())


def test_code_that_is_pickled_runs_elsewhere(root: Path) -> None:
    """As cloudpickle does it: by the constants of a function."""
    program = "import pickle\ndef work(n):\n    for i in range(n):\n        n += [x for x in (1, 2)][1]\n    return n\n"
    program += "code = work.__code__\n"
    program += "names = [c for c in code.co_consts if not hasattr(c, 'co_code')]\n"
    program += "back = dict(zip(map(id, names), pickle.loads(pickle.dumps(names))))\n"
    program += "consts = tuple(back.get(id(c), c) for c in code.co_consts)\n"
    program += "work.__code__ = code.replace(co_consts=consts)\nprint(work(4), '_record' in repr(consts))\n"
    (root / "sends.py").write_text(program)
    for version, python in old().items():
        said = root / "said"
        recorded(root, "sh", "-c", f'"$@" > {said}', "sh", python, root / "sends.py")
        expect(f"Python {version}", "12 False\n", said.read_text())


def events_of(path: Path) -> List[Tuple[str, str, int]]:
    found = [re.fullmatch(r"\('(\w+)', '(.*)', (\d+)\)", line) for line in path.read_text().splitlines()]
    return [(match[1], match[2], int(match[3])) for match in found if match]


def test_nothing_of_a_program_changes(root: Path) -> None:
    """Output, tracebacks, warnings, modules, functions and the lines that a tracer sees are as without recording."""
    names = ["turns", *SOME, *(MORE.split() if FULL else [])]
    for version, python in old().items():
        said, lines = root / "said", root / "lines"
        words = [python, "-B", PROGRAMS / "behaves.py", *names]
        bare = ran(*words, env={"LINES_TO": str(lines)})
        before = events_of(lines)
        recorded(root, "sh", "-c", f'"$@" > {said}', "sh", *words, module="*", env={"LINES_TO": str(lines)})
        expect(f"Python {version}", bare.splitlines(), said.read_text().splitlines())
        after = events_of(lines)
        calls = [[event for event in events if event[0] != "line"] for events in (before, after)]
        expect(f"Python {version}, calls", calls[0], calls[1])
        if int(version.split(".")[1]) >= 10:  # before, Python itself leaves out lines of jumps
            expect(f"Python {version}, lines", sorted(set(before)), sorted(set(after)))


def test_pythons_own_tests(root: Path) -> None:
    """They pass with all modules rewritten."""
    if not FULL:
        raise Skip("FATHOM_FULL=1 runs them")
    quietly = ["sh", "-c", '"$@" >/dev/null 2>&1; echo $?', "sh"]
    options = ["--layers", "python", "--python-modules", "test,heapq,textwrap", "--python-loops", "*"]
    run = [FATHOM, "run", "-q", "--force", "-o", root / "own.fathom", *options, "--"]
    for version, python in old().items():
        for suite in SUITES.split():
            words = [*quietly, python, "-B", "-m", "unittest", "-q", f"test.test_{suite}"]
            expect(f"Python {version}, {suite}", ran(*words), ran(*run, *words))

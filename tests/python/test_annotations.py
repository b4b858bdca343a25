# SPDX-License-Identifier: MIT
"""What a Python program tells about itself, on every Python that is here."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterable, List

from jobs import only_one
from kit import BUILD, FATHOM, TOP, Failure, Skip, answers, column, expect, ran, rows
from test_plain import interpreters

PROGRAMS = Path(__file__).resolve().parent / "programs"
STRICT = ["-X", "dev", "-W", "error"]
# Of programs/tasks.py: of each task by itself, whichever others are suspended.
DEPTHS = ["around 1", "decode 1", "decode 3", "delegates 0", "fetch 0", "fetch 2", "forgotten 0", "healed 0", "last 0"]
DEPTHS += [
    "moved 0",
    "numbers 0",
    "numbers 1",
    "one 0",
    "outer 0",
    "plain 0",
    "sleeps 0",
    "step 2",
    "step 4",
    "stream 2",
]
DEPTHS += ["three 2", "turn 1", "turn 2", "two 0", "two 1", "within 1"]


def build_extensions(found: Dict[str, str]) -> None:
    """Those of other parts of these tests wait meanwhile, and find them made."""
    folder = BUILD / "extensions"
    lines = [f"-DFATHOM_PYTHON={';'.join(found.values())}", f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={folder / 'made'}"]
    configured = folder / "configured.txt"
    with only_one(folder):
        if not configured.exists() or configured.read_text() != str(lines):
            ran("cmake", "-S", TOP / "python", "-B", folder, "-G", "Ninja", *lines)
            configured.write_text(str(lines))
        ran("ninja", "-C", folder)
        for made in (folder / "made").glob("*/*.so"):
            put_in_place(made, BUILD / made.parent.name / made.name)


def put_in_place(made: Path, place: Path) -> None:
    """At once: while a linker writes it, tests beside this one would record no function of Python."""
    if place.exists() and place.read_bytes() == made.read_bytes():
        return
    place.parent.mkdir(exist_ok=True)
    part = place.with_name(f".{place.name}.part")
    shutil.copy(made, part)
    part.rename(place)


@functools.lru_cache(maxsize=None)
def pythons() -> Dict[str, str]:
    """Interpreters for which the extension could be built."""
    found = interpreters()
    if not found:
        raise Skip("no Python from 3.8 to 3.13 is here by its name")
    build_extensions(found)
    suffix = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    built = {version: ran(python, "-c", suffix).strip() for version, python in found.items()}
    usable = {version: found[version] for version in built if (BUILD / "python" / f"_record{built[version]}").exists()}
    if not usable:
        raise Skip("no Python that is here has its headers")
    print(f"   with Python {', '.join(usable)}")
    return usable


def recorded(root: Path, *command: Any) -> Path:
    trace = root / "own.fathom"
    ran(FATHOM, "run", "-q", "--force", "-o", trace, "--layers", "app,posix", "--", *command)
    return trace


def count_of(names: Iterable[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return f"SELECT name, count(*) AS n FROM events WHERE layer = 'app' AND name IN ({listed}) GROUP BY name"


def by_name(answer: List[Dict[str, Any]]) -> Dict[str, int]:
    return {row["name"]: row["n"] for row in answer}


def one_column(trace: Path, sql: str) -> List[Any]:
    return column(rows(trace, sql))


def test_decorated_is_as_undecorated(root: Path) -> None:
    for version, python in pythons().items():
        command = [python, *STRICT, PROGRAMS / "facts.py"]
        expect(f"Python {version}, alone", "same\n", ran(*command))
        output = root / "said"
        recorded(root, "sh", "-c", f'"$@" > {output}', "sh", *command)
        expect(f"Python {version}, recorded", "same\n", output.read_text())


def test_tasks_and_generators_keep_apart(root: Path) -> None:
    for version, python in pythons().items():
        trace = recorded(root, python, *STRICT, PROGRAMS / "tasks.py")
        wanted = {
            "fetch": 25,
            "decode": 25,
            "step": 26,
            "plain": 20,
            "within": 20,
            "outer": 5,
            "around": 5,
            "stream": 5,
        }
        wanted.update(
            {"sleeps": 1, "numbers": 6, "delegates": 1, "moved": 2, "one": 1, "two": 2, "three": 1, "last": 1}
        )
        mixed = """SELECT count(*) FROM events WHERE (name = 'fetch' AND args['number'] IS DISTINCT FROM args['done'])
            OR (name = 'decode' AND args['number'] IS DISTINCT FROM args['again'])
            OR (name = 'plain' AND args['number'] IS DISTINCT FROM args['late'])
            OR (name = 'stream' AND args['last'] IS DISTINCT FROM '2')
            OR (name IN ('fetch', 'decode', 'step', 'within', 'around', 'plain') AND args['number'] IS NULL)"""
        told = """SELECT name || ' ' || CAST(coalesce(args, MAP {}) AS VARCHAR) AS told FROM events
            WHERE name IN ('one', 'two', 'three', 'sleeps') ORDER BY 1"""
        wanted_arguments = ["one {}", "sleeps {exception=CancelledError}", "three {of=three, still=three}"]
        wanted_arguments += ["two {k=1, of=two}", "two {k=1}"]
        depths = "SELECT DISTINCT name || ' ' || depth AS deep FROM events WHERE layer = 'app' ORDER BY 1"
        calls, of_others, arguments, deep = answers(trace, count_of(wanted), mixed, told, depths)
        expect(f"Python {version}", wanted, by_name(calls))
        expect(f"Python {version}, arguments of others", [0], column(of_others))
        got = [text.replace("'", "") for text in column(arguments)]
        expect(f"Python {version}, arguments", sorted(wanted_arguments), sorted(got))
        expect(f"Python {version}, depths", DEPTHS, column(deep))


def test_nothing_grows(root: Path) -> None:
    """Seven kinds of calls in each turn: more than ten million with --full."""
    turns = 1_500_000 if os.environ.get("FATHOM_FULL") else 40_000
    version, python = list(pythons().items())[-1]
    output = root / "said"
    trace = recorded(root, "sh", "-c", f'"$@" > {output}', "sh", python, PROGRAMS / "grows.py", str(turns))
    wanted = dict.fromkeys(("turn", "call", "numbers", "waits", "block", "streams", "fails"), turns)
    expect(f"Python {version}", wanted, by_name(rows(trace, count_of(wanted))))
    grown = int(output.read_text())
    if grown > 4096:
        raise Failure(f"{grown} KiB more after {turns // 2} further turns")


def test_off_nothing_is_loaded_and_nothing_is_written(root: Path) -> None:
    program = """import fathom, json
def f(): pass
with fathom.region("r", k=1), fathom.region("s"):
    fathom.arg("k", 1); fathom.counter("c", 1); fathom.instant("i"); fathom.metadata("k", "v")
print(json.dumps([fathom.trace(f) is f, fathom.trace(name="x")(f) is f, list(fathom.iter([1, 2], "l")),
                  "libfathom" in open("/proc/self/maps").read()]))"""
    for version, python in pythons().items():
        said = subprocess.run([python, "-c", program], cwd=root, capture_output=True, text=True, check=True).stdout
        expect(f"Python {version}", [True, True, [1, 2], False], json.loads(said))
    expect("files", [], list(root.iterdir()))


def test_an_import_is_enough(root: Path) -> None:
    program = """import fathom, sys
@fathom.trace
def job(): open("/etc/passwd").close()
job(); fathom.metadata("model", "resnet"); fathom.instant("checkpoint"); fathom.counter("loss", 0.5)"""
    trace = root / "late.fathom"
    for version, python in pythons().items():
        ran("rm", "-rf", trace)
        ran(python, "-c", program, env={"FATHOM_OUT": str(trace)})
        wanted = {"job": 1, "checkpoint": 1}
        inside = """SELECT count(*) FROM events AS job JOIN events AS inside USING (tid) WHERE job.name = 'job'
            AND inside.layer = 'posix' AND inside.ts BETWEEN job.ts AND job.ts + job.dur AND inside.depth = 1"""
        calls, of_job = answers(trace, count_of(wanted), inside)
        expect(f"Python {version}", wanted, by_name(calls))
        if column(of_job)[0] < 2:
            raise Failure(f"Python {version}: the calls inside job are missing")

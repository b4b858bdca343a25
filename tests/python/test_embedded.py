# SPDX-License-Identifier: MIT
"""Interpreters that a program of C makes, finalises and makes again, on every Python that is here."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List

from kit import BUILD, FATHOM, TOP, Skip, answers, expect, ran, rows
from test_annotations import PROGRAMS, by_name, pythons

LIVES = 3
COUNTS = "SELECT layer || ' ' || name AS name, count(*) AS n FROM events WHERE name NOT LIKE '<%' GROUP BY 1"
PROGRAM = """
def work():
    for x in range(5): pass
[work() for _ in range(10)]
import fathom
@fathom.trace
def told():
    with fathom.region('block', k=1): pass
[told() for _ in range(4)]
"""
PLACES = """import json, sys, sysconfig
print(json.dumps([sys.base_prefix, *map(sysconfig.get_config_var, ('INCLUDEPY', 'LIBDIR', 'LDVERSION'))]))"""


def embedding(root: Path) -> Dict[str, List[Any]]:
    """By version: the words that run PROGRAM in one life after the other."""
    found: Dict[str, List[Any]] = {}
    for version, python in pythons().items():
        home, include, libraries, name = json.loads(ran(python, "-c", PLACES))
        program = root / f"lives-{version}"
        words = ["cc", "-Wall", "-Werror", f"-I{include}", PROGRAMS / "lives.c", "-o", program]
        words += [f"-L{libraries}", f"-lpython{name}", f"-Wl,-rpath,{libraries}"]
        if subprocess.run([str(word) for word in words], capture_output=True, check=False).returncode == 0:
            found[version] = ["env", f"PYTHONHOME={home}", program, LIVES, PROGRAM]
    if not found:
        raise Skip("no Python that is here can be linked with")
    return found


def recorded(root: Path, *words: Any, fathom: Path = FATHOM) -> Path:
    trace = root / "lives.fathom"
    options = ["--layers", "app,python", "--python-modules", "__main__", "--python-loops", "__main__"]
    ran(fathom, "run", "-q", "--force", "-o", trace, *options, "--", *words)
    return trace


def counts(trace: Path) -> Dict[str, int]:
    return by_name(rows(trace, COUNTS))


def test_every_life_is_traced(root: Path) -> None:
    wanted = {"python work": 10, "python told": 4, "app told": 4, "app block": 4}
    wanted = {name: n * LIVES for name, n in wanted.items()}
    found = embedding(root)
    for version, words in found.items():
        loops = {"python work.<for 3>": 10 * LIVES} if int(version.split(".")[1]) >= 12 else {}
        expect(f"Python {version}", {**wanted, **loops}, counts(recorded(root, *words)))
        strict = counts(recorded(root, "env", "PYTHONDEVMODE=1", *words))
        expect(f"Python {version}, with the debug allocator", {**wanted, **loops}, strict)
    print(f"   with Python {', '.join(found)}")


def test_no_life_is_hurt_where_nothing_can_be_traced(root: Path) -> None:
    folder = root / "apart"
    folder.mkdir()
    for name in ("fathom", "libfathom.so"):
        shutil.copy(BUILD / name, folder / name)
    for version, words in embedding(root).items():
        empty = [*words[:-1], "print('life', flush=True)"]
        trace = recorded(root, *empty, fathom=folder / "fathom")
        calls, lost = answers(trace, COUNTS, "SELECT sum(count) AS n FROM losses WHERE layer = 'python'")
        expect(f"Python {version}", {}, by_name(calls))
        expect(f"Python {version}, told once", 1, lost[0]["n"])


def test_programs_of_dftracer(root: Path) -> None:
    """Its module keeps nothing of an interpreter that was finalised."""
    version, words = list(embedding(root).items())[-1]
    code = "from dftracer.python import dftracer, dft_fn\nlog = dftracer.initialize_log()\nfn = dft_fn('LIFE')\n"
    code += "@fn.log\ndef f(): pass\n[f() for _ in range(7)]\nlog.finalize()\n"
    settings = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(root / "log"), "DFTRACER_TRACE_COMPRESSION": "0"}
    ran(*words[:-1], code, env={**settings, "PYTHONPATH": str(TOP / "python")})
    lines = [line for path in root.glob("log*") for line in path.read_text().splitlines() if '"LIFE"' in line]
    expect(f"Python {version}", 7 * LIVES, len(lines))

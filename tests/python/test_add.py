# SPDX-License-Identifier: MIT
"""`fathom python add`: an interpreter without extensions is told, gets them, and is traced; so is the drop-in there."""

import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

from kit import BUILD, Failure, answers, column, expect, ran
from test_annotations import pythons

PROGRAM = "def f(): pass\nf()"
STATE = "SELECT state FROM layers WHERE layer = 'python'"
CALLS = "SELECT count(*) AS n FROM events WHERE layer = 'python' AND name = 'f'"


def apart(root: Path) -> Path:
    """The program without any extension, but with the sources of it."""
    folder = root / "apart"
    (folder / "python").mkdir(parents=True)
    for name in ("fathom", "libfathom.so", "libduckdb.so"):
        shutil.copy(BUILD / name, folder / name)
    shutil.copytree(BUILD / "python" / "src", folder / "python" / "src")
    (root / "home").mkdir(mode=0o700)
    return folder / "fathom"


def answer_of(fathom: Path, root: Path, *words: Any, **variables: str) -> Tuple[int, str]:
    home = {"HOME": str(root / "home"), "XDG_DATA_HOME": "", **variables}
    pairs = [f"{name}={value}" for name, value in home.items()]
    command = [str(word) for word in ("env", *pairs, fathom, *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def recorded(fathom: Path, root: Path, python: str) -> Tuple[str, List[Any]]:
    trace = root / "added.fathom"
    words = ["run", "--force", "-o", trace, "--layers", "python", "--", python, "-c", PROGRAM]
    status, said = answer_of(fathom, root, *words)
    expect("status", 0, status)
    return said, [column(answer)[0] for answer in answers(trace, STATE, CALLS)]


def refusals(fathom: Path, root: Path, python: str) -> None:
    fake = root / "python3.9"
    fake.write_text("#!/bin/sh\nprintf 'cpython\\n3.9.2\\n3\\n9\\n0\\n/nowhere\\n.cpython-39.so\\n'\n")
    newer = root / "python3.14"
    newer.write_text("#!/bin/sh\nprintf 'cpython\\n3.14.0\\n3\\n14\\n0\\n/nowhere\\n.cpython-314.so\\n'\n")
    for program in (fake, newer):
        program.chmod(0o755)
    wanted: Dict[str, Tuple[List[Any], Dict[str, str]]] = {
        "apt install python3.9-dev": ([fake], {}),
        "is Python 3.14.0; this version of Fathom traces 3.8 to 3.13": ([newer], {}),
        "is no Python": (["true"], {}),
        "No such file": ([root / "nothing"], {}),
        "no C compiler": ([python], {"CC": str(root / "nothing")}),
        "does not compile": ([python], {"CC": "sh -c false"}),
        "HOME": ([python], {"HOME": ""}),
    }
    for part, (words, variables) in wanted.items():
        status, said = answer_of(fathom, root, "python", "add", *words, **variables)
        if status == 0 or part not in said:
            raise Failure(f"{words}: expected '{part}', got {status}: {said}")
    expect("usage", 2, answer_of(fathom, root, "python", "sub", python)[0])


def test_an_interpreter_gets_its_extension(root: Path) -> None:
    fathom, python = apart(root), next(iter(pythons().values()))
    said, found = recorded(fathom, root, python)
    line = f"fathom python add {Path(python).resolve()}"
    if "not covered: " not in said or line not in said:
        raise Failure(f"no line that says what to do: {said}")
    expect("without", ["partial", 0], found)
    refusals(fathom, root, python)
    place = root / "home" / ".local" / "share" / "fathom" / "python"
    for _ in range(2):
        status, said = answer_of(fathom, root, "python", "add", python)
        expect("add", (0, True), (status, str(place) in said))
        expect("made", 1, len(list(place.iterdir())))
    expect("with", ["on", 1], recorded(fathom, root, python)[1])
    place.chmod(0o777)
    expect("where others can write", ["partial", 0], recorded(fathom, root, python)[1])
    expect("add there", 1, int(answer_of(fathom, root, "python", "add", python)[0] != 0))
    place.chmod(0o755)
    annotated = "import fathom._record as r; print(r.__file__)"
    variables = {"HOME": str(root / "home"), "FATHOM_BUILD": str(fathom.parent), "XDG_DATA_HOME": ""}
    expect("the package", f"{next(place.iterdir())}\n", ran(python, "-c", annotated, env=variables))
    native = "import dftracer.dftracer as d; print(d.__file__, bool(d.get_time()))"
    (module,) = (place.parent / "dftracer").iterdir()
    expect("the drop-in", f"{module} True\n", ran(python, "-c", native, env=variables))

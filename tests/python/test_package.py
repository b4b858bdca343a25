# SPDX-License-Identifier: MIT
"""The package as pip installs it. It compiles everything: only where FATHOM_FULL is set."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict

from kit import TOP, Failure, Skip, expect, ran, rows
from test_dftracer import APP, PROGRAM, REGIONS, settings, variables_of, wait_for
from test_plain import interpreters
from world import small

ASK = "import fathom, sys; print(fathom.__version__, fathom.open(sys.argv[1]).events.count(), fathom.__file__)"
WORK = """import fathom
@fathom.trace
def told(): pass
def work(): told()
[work() for _ in range(5)]
"""


CMAKE = """cmake_minimum_required(VERSION 3.16)
project(regions C)
find_package(dftracer REQUIRED)
add_executable(regions %s/dftracer_regions.c)
target_link_libraries(regions PRIVATE dftracer::dftracer)
"""


def bare() -> Dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("FATHOM_BUILD", "PYTHONPATH")}


def quickly(clone: Path) -> Dict[str, str]:
    """Variables by which what was compiled for one Python, or by ./dev build, is not compiled again."""
    if shutil.which("ccache") is None:
        return {}
    found = {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}
    found.update(CC="/usr/bin/cc", CXX="/usr/bin/c++", CCACHE_BASEDIR=str(clone))
    return {**found, "SKBUILD_BUILD_DIR": f"{clone}/build-{{wheel_tag}}"}


def installed(root: Path, interpreter: str, what: str, variables: Dict[str, str]) -> Path:
    """The interpreter of an environment in which pip has installed it."""
    ran(interpreter, "-m", "venv", root)
    python = root / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]
    done = subprocess.run(pip, env={**bare(), **variables}, capture_output=True, text=True, check=False)
    if "No matching distribution found for scikit-build-core" in done.stderr:
        raise Skip("scikit-build-core cannot be had")
    expect(f"pip install {what}", (0, ""), (done.returncode, done.stderr[-2000:] if done.returncode else ""))
    return python


def said_by(*command: Any, **variables: str) -> str:
    return ran("env", "-u", "FATHOM_BUILD", "-u", "PYTHONPATH", *command, env=variables)


def expect_package(root: Path, python: Path) -> None:
    """It answers questions, records by its program, traces, and runs programs of DFTracer."""
    answer = said_by(python, "-c", ASK, small(root)).split()
    expect("version, events", ["0.1.0", "12"], answer[:2])
    expect("where it is", True, answer[2].startswith(str(python.parent.parent)))
    said_by(python, "-m", "fathom", "--help")
    trace = root / "own.fathom"
    words = ["run", "-q", "--force", "-o", trace, "--layers", "app,posix,python", "--python-modules", "__main__"]
    said_by(python.parent / "fathom", *words, "--", python, "-c", WORK)
    sql = "SELECT layer, name, count(*) AS n FROM events WHERE name IN ('work', 'told') GROUP BY ALL"
    got = {(row["layer"], row["name"]): row["n"] for row in rows(trace, sql)}
    expect("recorded", {("python", "work"): 5, ("python", "told"): 5, ("app", "told"): 5}, got)
    for generation in ("1", "2"):
        place = root / f"dftracer{generation}"
        expect("DFTracer's", "done\n", said_by(python, PROGRAM, generation, **settings(place)))
        wait_for(APP, place, "TRAIN", "IO", "LOOP")


def expect_linked(root: Path, python: Path, where: str = "fathom/lib") -> None:
    """A project of C finds the installed libraries by their CMake package."""
    (libraries,) = python.parent.parent.glob(f"lib/python3*/site-packages/{where}")
    (root / "CMakeLists.txt").write_text(CMAKE % PROGRAM.parent)
    ran("cmake", "-S", root, "-B", root / "linked", f"-DCMAKE_PREFIX_PATH={libraries}")
    ran("cmake", "--build", root / "linked")
    expect("linked", "done\n", said_by(root / "linked" / "regions", **variables_of(root)))
    wait_for(REGIONS, root)


def expect_drop_ins(root: Path, python: Path, clone: Path) -> None:
    """In place of DFTracer's own packages, which came first: pip is content, and programs are Fathom's."""
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with contextlib.suppress(Failure):  # PyPI may be out of reach
        ran(*pip, "install", "--no-deps", "pydftracer==2.0.6", "dftracer==2.2.0")
    ran(*pip, "install", clone / "packaging/pydftracer", clone / "packaging/dftracer")
    ran(*pip, "check")
    for generation in ("1", "2"):
        place = root / f"drop-in{generation}"
        expect("DFTracer's", "done\n", said_by(python, PROGRAM, generation, **settings(place)))
        wait_for(APP, place, "TRAIN", "IO", "LOOP")
    (root / "linked").mkdir()
    expect_linked(root / "linked", python, "dftracer")
    ran(*pip, "uninstall", "--yes", "pydftracer", "dftracer")
    expect_package(root / "linked", python)


def test_pip_installs_a_clean_clone_on_every_python(root: Path) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("pip compiles everything; tests/run --full does it")
    clone = root / "clone"
    ran("git", "clone", "-q", TOP, clone)
    found = interpreters()
    for version, interpreter in found.items():
        place = root / version
        place.mkdir()
        python = installed(place / "venv", interpreter, str(clone), quickly(clone))
        expect_package(place, python)
        if version == list(found)[-1]:
            expect_drop_ins(place, python, clone)
        print(f"   installed for Python {version}", flush=True)
    if not found:
        raise Skip("no Python from 3.8 to 3.13 is here by its name")


def test_pip_installs_it_from_git(root: Path) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("pip compiles everything; tests/run --full does it")
    # The build finds ccache by itself and lies inside of pip's clone: what ./dev build compiled serves here, too.
    variables = {"CC": "/usr/bin/cc", "CXX": "/usr/bin/c++", "SKBUILD_BUILD_DIR": "build-{wheel_tag}"}
    interpreter = list(interpreters().values())[-1]
    python = installed(root / "venv", interpreter, f"git+file://{TOP}", variables)
    expect_package(root, python)
    (root / "linking").mkdir()
    expect_linked(root / "linking", python)

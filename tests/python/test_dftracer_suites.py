# SPDX-License-Identifier: MIT
"""DFTracer's own tests, with its packages and with ours in their place, in the same run: ours pass what its own pass.

The tests come inside the source packages on PyPI, by name and version. Nothing of them is in this repository.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Dict
from xml.etree import ElementTree

from jobs import only_one
from kit import BUILD, CACHE, Failure, Skip, environment, expect, ran
from test_dftracer import real
from test_distributions import our_wheels

HERE = Path(__file__).resolve().parent
RELEASE = "dftracer==2.2.0"
# Tests that DFTracer passes and ours need not, with the reason.
_HYBRID = "counts lines of a program whose I/O DFTracer's HYBRID leaves out, against its documents, and ours has"
_EXACT = ("normal", "epoch_as_metadata", "disable_cat_all", "disable_cat_dataloader", "disable_cat_device")
_EXACT += ("disable_cat_compute", "disable_cat_ckpt")
EXCEPTIONS: Dict[str, str] = {f"check_file_exists_test_py_ai_logging_{name}": _HYBRID for name in _EXACT}
_LAST_CALL = "looks for the last call's arguments in the decorator, where Fathom leaves no trace of a call"
EXCEPTIONS_OF_PYDFTRACER: Dict[str, str] = {
    "test_log_from_function_params": _LAST_CALL,
    "test_log_from_method_params": _LAST_CALL,
    "test_log_init_from_constructor_params": _LAST_CALL,
}


def source_of(release: str, root: Path) -> Path:
    """The unpacked source package, which pip fetches once."""
    name, version = release.split("==")
    folder = CACHE / "sources"
    packed = folder / f"{name}-{version}.tar.gz"
    with only_one(folder):
        if not packed.exists():
            words = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", name, release]
            done = subprocess.run(
                [sys.executable, "-m", "pip", *words, "--dest", folder], capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                raise Skip(f"{release} cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    with tarfile.open(packed) as archive:
        archive.extractall(root)
    return root / f"{name}-{version}"


def ours(root: Path) -> Path:
    """The interpreter of an environment that has our distributions; FATHOM_BUILD names their libraries."""
    if sys.version_info < (3, 11):
        raise Skip("tools/wheel.py needs Python 3.11")
    python = environment("suites-ours", str(HERE / "requirements-suites.txt")) / "python"
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--force-reinstall"]
    ran(python, "-m", "pip", *words, *our_wheels(root))
    return python


def places_of_theirs(python: Path) -> Dict[str, Path]:
    (package,) = python.parent.parent.glob("lib/python3*/site-packages/dftracer")
    return {"PYTHON": python, "LIBRARIES": package / "lib64", "INCLUDE": package / "include"}


def places_of_ours(root: Path, python: Path) -> Dict[str, Path]:
    ran("cmake", "--install", BUILD, "--prefix", root / "prefix")
    return {"PYTHON": python, "LIBRARIES": root / "prefix/lib", "INCLUDE": root / "prefix/include"}


def build_suite(root: Path, suite: Path, places: Dict[str, Path]) -> None:
    given = [f"-D{name}={path}" for name, path in {"SUITE": suite, **places}.items()]
    for step in (["-S", str(HERE / "suites"), "-B", str(root / "build"), *given], ["--build", str(root / "build")]):
        ran("cmake", *step, env={"PYTHONPATH": ""})


def outcomes_of(root: Path, part: str = ".", **variables: str) -> Dict[str, bool]:
    """The tests of the suite whose names match the part, and whether each passed."""
    report = root / "report.xml"
    words = ["ctest", "--test-dir", root / "build", "--timeout", "120", "-R", part, "--output-junit", report]
    bare = {**os.environ, "PYTHONPATH": "", **variables}
    subprocess.run(words, env=bare, capture_output=True, check=False)
    found = {case.attrib["name"]: case.attrib["status"] for case in ElementTree.parse(report).iter("testcase")}
    expect("tests", True, len(found) > 0)
    return {name: status == "run" for name, status in found.items()}


def compare(theirs: Dict[str, bool], own: Dict[str, bool], exceptions: Dict[str, str]) -> None:
    print(f"   of {len(theirs)} tests DFTracer passes {sum(theirs.values())}, ours {sum(own.values())}")
    expect("the same tests", set(theirs), set(own))
    lacking = {name for name, passed in theirs.items() if passed and not own[name]}
    if lacking - set(exceptions):
        raise Failure(f"DFTracer passes, ours do not: {sorted(lacking - set(exceptions))}")
    expect("exceptions that are none", set(), {name for name in exceptions if theirs.get(name)} - lacking)


def need(*tools: str) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("it fetches DFTracer's packages; tests/run --full does it")
    for tool in tools:
        if shutil.which(tool) is None:
            raise Skip(f"{tool} is not installed")


def test_programs_of_dftracer(root: Path) -> None:
    """Its C, C++ and Python programs, with the counts of events that it expects of them."""
    need("cmake", "ctest", "jq")
    suite = source_of(RELEASE, root) / "test"
    sides = {"theirs": places_of_theirs(real("suites-theirs", str(HERE / "requirements-suites-theirs.txt")))}
    sides["ours"] = places_of_ours(root, ours(root))
    for side, places in sides.items():
        build_suite(root / side, suite, places)
    compare(outcomes_of(root / "theirs"), outcomes_of(root / "ours"), EXCEPTIONS)
    alone = outcomes_of(root / "ours", "ai_logging", DFTRACER_DISABLE_IO="1")
    expect("its counts without I/O", set(), {name for name, passed in alone.items() if not passed})


def tested(root: Path, python: Path, tests: Path, enabled: str) -> Dict[str, bool]:
    """Every test of the folder, and whether it passed. What needs a package that is missing is left out."""
    shutil.copytree(tests, root / "tests")
    report = root / "report.xml"
    words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    variables = {**os.environ, "PYTHONPATH": "", "DFTRACER_ENABLE": enabled}
    subprocess.run([*words, f"--junitxml={report}", "tests"], env=variables, cwd=root, capture_output=True, check=False)
    cases = [case for case in ElementTree.parse(report).iter("testcase") if case.attrib["classname"]]
    expect("tests", True, len(cases) > 0)
    return {case.attrib["name"]: not [*case.iter("failure"), *case.iter("error")] for case in cases}


def test_suites_of_pydftracer(root: Path) -> None:
    need()
    tests = os.environ.get("FATHOM_PYDFTRACER_TESTS")
    if not tests:
        raise Skip("pydftracer's source packages have no tests; FATHOM_PYDFTRACER_TESTS names the folder of a clone's")
    their_python = real("suites-theirs", str(HERE / "requirements-suites-theirs.txt"))
    our_python = ours(root)
    for enabled in ("0", "1"):
        found = []
        for side, python in (("theirs", their_python), ("ours", our_python)):
            place = root / f"{side}-{enabled}"
            place.mkdir()
            found.append(tested(place, python, Path(tests), enabled))
        compare(*found, EXCEPTIONS_OF_PYDFTRACER)

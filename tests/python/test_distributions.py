# SPDX-License-Identifier: MIT
"""pip and the drop-in for DFTracer: `pydftracer` and `dftracer` are distributions of ours, beside `fathom`.

The wheels here have the modules alone; FATHOM_BUILD names the libraries. Those of PyPI are made up: what matters is who
holds which file. test_package.py installs the real ones (--full).
"""

import importlib.util
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Tuple

from kit import BUILD, TOP, Skip, expect, ran
from test_dftracer import APP, PROGRAM, REGIONS, settings, table_of, variables_of, wait_for

if sys.version_info >= (3, 11):
    spec = importlib.util.spec_from_file_location("wheel", TOP / "tools" / "wheel.py")
    assert spec is not None and spec.loader is not None
    wheel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wheel)

PYPI = {"requires-python": ">=3.8", "classifiers": [], "description": "somebody else's"}
REPLACES = "pip install ./packaging/pydftracer ./packaging/dftracer"
THEIRS: Dict[Tuple[str, str], List[str]] = {  # as PyPI's distributions divide the files
    ("pydftracer", "2.0.7"): ["dftracer/python/__init__.py"],
    ("dftracer", "2.3.0"): ["dftracer/__init__.py"],
    ("pydftracer", "1.0.6"): ["dftracer/__init__.py", "dftracer/logger.py", "dfanalyzer/__init__.py"],
}


def made(root: Path, name: str, version: str, files: List[str], *needs: str) -> Path:
    texts = {**PYPI, "name": name, "version": version, "dependencies": list(needs)}
    text = root / "theirs.py"
    text.write_text("raise ImportError('theirs')\n")
    return wheel.make_wheel(texts, {file: text for file in files}, "any", root)


def our_wheels(root: Path) -> List[Path]:
    projects = [(TOP, wheel.package_files()), (TOP / "packaging/pydftracer", {})]
    projects.append((TOP / "packaging/dftracer", wheel.thin_files(root)))
    return [wheel.make_wheel(wheel.project_in(folder), members, "any", root) for folder, members in projects]


class Environment:
    def __init__(self, root: Path) -> None:
        if sys.version_info < (3, 11):
            raise Skip("tools/wheel.py needs Python 3.11")
        if importlib.util.find_spec("pip") is None:
            raise Skip("pip is not installed")
        ran(sys.executable, "-m", "venv", "--without-pip", root / "venv")
        self.python = root / "venv" / "bin" / "python"
        (self.packages,) = root.glob("venv/lib/python3*/site-packages")

    def pip(self, *words: Any) -> str:
        quiet = ["--python", str(self.python), "--quiet", "--disable-pip-version-check", "--no-input"]
        return ran(sys.executable, "-m", "pip", *quiet, *words)

    def install(self, *what: Any) -> None:
        self.pip("install", "--no-index", "--no-compile", *what)

    def run(self, *words: Any, **variables: str) -> "subprocess.CompletedProcess[str]":
        command = ["env", "-u", "PYTHONPATH", *(f"{key}={value}" for key, value in variables.items())]
        return subprocess.run([*command, self.python, *words], capture_output=True, text=True, check=False)

    def expect_ours(self, root: Path) -> None:
        """Programs of both generations have their events."""
        for generation in ("1", "2"):
            place = root / f"{len(list(root.iterdir()))}-{generation}"
            done = self.run(PROGRAM, generation, **settings(place))
            expect("DFTracer's program", ("done\n", ""), (done.stdout, done.stderr))
            wait_for(APP, place, "TRAIN", "IO", "LOOP")

    def files(self) -> Dict[str, int]:
        lines = [line for path in self.packages.glob("*.dist-info/RECORD") for line in path.read_text().splitlines()]
        return Counter(line.split(",")[0] for line in lines)


def test_pip_is_content_and_takes_nothing_apart(root: Path) -> None:
    here = Environment(root)
    needs = ("pydftracer>=2.0.2", "dftracer>=2.0", "dftracer!=2.1")
    trainer = made(root, "trainer", "1.0", ["trainer.py"], *needs)
    here.install(*our_wheels(root), trainer, made(root, "dftracer_utils", "0.0.14", ["dftracer/utils/__init__.py"]))
    here.pip("check")
    others = "import importlib.util as u; print(u.find_spec('dftracer.utils').origin)"
    expect("a part of others", f"{here.packages}/dftracer/utils/__init__.py\n", here.run("-c", others).stdout)
    expect("files of two distributions", [], [file for file, count in here.files().items() if count > 1])
    here.expect_ours(root)
    expect("doctor", False, "PyPI" in here.run("-m", "fathom", "doctor").stderr)
    here.pip("uninstall", "--yes", "dftracer", "pydftracer")
    here.expect_ours(root)


def test_an_exact_version_can_be_stood_for(root: Path) -> None:
    """DLIO 2.0.0 requires pydftracer==1.0.2."""
    here = Environment(root)
    os.environ["FATHOM_PYDFTRACER"] = "1.0.2"
    try:
        ours = our_wheels(root)
    finally:
        del os.environ["FATHOM_PYDFTRACER"]
    here.install(*ours[:2], made(root, "dlio", "2.0.0", ["dlio.py"], "pydftracer==1.0.2"))
    here.pip("check")
    here.expect_ours(root)
    version = "import dftracer.python as d; print(d.__version__)"
    expect("its version", True, here.run("-c", version).stdout.startswith("1.0.2+fathom."))


def test_packages_of_pypi_are_named_and_replaced(root: Path) -> None:
    here = Environment(root)
    ours = our_wheels(root)
    cases = [[("pydftracer", "2.0.7"), ("dftracer", "2.3.0")]]
    if os.environ.get("FATHOM_FULL"):  # pip takes a second for each
        cases += [[("pydftracer", "2.0.7")], [("pydftracer", "1.0.6")]]
    for names in cases:
        here.install(ours[0], *(made(root, *name, THEIRS[name]) for name in names))
        said = here.run("-m", "fathom", "doctor").stderr.splitlines()[0]
        expect("named", [], [name for name in names if f"{' '.join(name)} " not in said])
        expect("the line that replaces them", True, said.endswith(REPLACES))
        here.install(*ours)
        here.expect_ours(root)
        expect("what is theirs", [], [path for path in here.packages.rglob("*.py") if "theirs" in path.read_text()])


def test_programs_have_both_names(root: Path) -> None:
    """`datacrumbs` is the program under its second name: `fathom watch` with DataCrumbs' words."""
    here = Environment(root)
    here.install(our_wheels(root)[0])
    for name, wanted in (("fathom", "usage: fathom COMMAND"), ("datacrumbs", "usage: fathom watch")):
        said = here.run(here.python.parent / name, "--help", FATHOM_BUILD=str(BUILD)).stdout
        expect(name, wanted, said[: len(wanted)])


CMAKE = """cmake_minimum_required(VERSION 3.18)
project(regions C)
find_package(dftracer 4.0 REQUIRED)
add_executable(regions %s/dftracer_regions.c)
target_compile_options(regions PRIVATE ${DFTRACER_FUNCTION_FLAGS})
target_link_libraries(regions PRIVATE dftracer)
"""


def test_libraries_are_where_its_documents_say(root: Path) -> None:
    """Below site-packages/dftracer, leading to those of the package beside it: here, to the build."""
    site = root / "site"
    (site / "fathom").mkdir(parents=True)
    (site / "fathom" / "lib").symlink_to(BUILD)
    ran("cmake", "-S", TOP / "packaging" / "dftracer", "-B", root / "thin", "-DSKBUILD=ON")
    ran("cmake", "--build", root / "thin", "--target", "dftracer_wheel")
    ran("cmake", "--install", root / "thin", "--component", "dftracer", "--prefix", site / "dftracer")
    (root / "CMakeLists.txt").write_text(CMAKE % PROGRAM.parent)
    ran("cmake", "-S", root, "-B", root / "linked", f"-DCMAKE_PREFIX_PATH={site / 'dftracer'}")
    ran("cmake", "--build", root / "linked")
    expect("linked", "done\n", ran(root / "linked" / "regions", env=variables_of(root / "1")))
    wait_for(REGIONS, root / "1")
    (root / "CMakeLists.txt").write_text((CMAKE % PROGRAM.parent).replace("4.0", "3.9"))
    older = ["cmake", "-S", root, "-B", root / "older", f"-DCMAKE_PREFIX_PATH={site / 'dftracer'}"]
    expect("another major number", 1, subprocess.run(older, capture_output=True, check=False).returncode)
    library = site / "dftracer" / "lib64" / "libdftracer_preload_dbg.so"
    known = {**settings(root / "2", INIT="PRELOAD"), "LD_PRELOAD": str(library)}
    ran("cp", PROGRAM, root / "2" / "data" / "copy", env=known)
    names = {name for name, _ in table_of(root / "2")}
    expect("preloaded", set(), {"openat", "close"} - names)


def test_versions_belong_together(root: Path) -> None:
    """Of the three distributions, and of the release that packaging/ names."""
    version = wheel.project_in(TOP)["version"]
    projects = {name: wheel.project_in(TOP / "packaging" / name) for name in ("pydftracer", "dftracer")}
    for project in projects.values():
        expect("marked as ours", f"fathom.{version}", project["version"].partition("+")[2])
        expect("needs", f"fathom=={version}", project["dependencies"][0])
    expect("needs", f"pydftracer=={projects['pydftracer']['version']}", projects["dftracer"]["dependencies"][1])

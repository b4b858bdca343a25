# SPDX-License-Identifier: MIT
"""Every Python that is here, with no package at all; and what importing brings in."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict

from kit import TOP, Failure, Skip, expect, ran
from world import need, small

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
ASK = """
import json, sys
import fathom
heavy = {"ctypes", "numpy", "pandas", "pyarrow", "dask", "matplotlib"} & set(sys.modules)
with fathom.open(sys.argv[1]) as recording:
    rows = recording.sql("SELECT name, sum(bytes) AS n FROM events WHERE bytes > ? GROUP BY 1 ORDER BY 1", 0).rows()
    calls = recording.events.where(layer="posix", name=["read", "pread"]).count()
    longest = recording.report("functions", top=1).rows()[0][0]
print(json.dumps([sorted(heavy), rows, calls, longest]))
"""


def interpreters() -> Dict[str, str]:
    """Python by version, from PATH or pyenv; those that start."""
    found: Dict[str, str] = {}
    for version in VERSIONS:
        places = [shutil.which(f"python{version}") or ""]
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        places += sorted(str(path) for path in root.glob(f"{version}.*/bin/python{version}"))
        for place in filter(None, places):
            if subprocess.run([place, "-S", "-c", ""], capture_output=True, check=False).returncode == 0:
                found[version] = place
                break
    return found


def test_no_package_is_needed_on_any_python(root: Path) -> None:
    trace = small(root)
    sums = [["fwrite", 64], ["pread", 8292], ["read", 1048576], ["write", 64]]
    found = interpreters()
    if not found:
        raise Skip("no Python from 3.8 to 3.13 is here by its name")
    for version, python in found.items():
        said = json.loads(ran(python, "-S", "-c", ASK, trace))  # -S: no package of that Python
        expect(f"Python {version}", [[], sums, 4, "step"], said)
    print(f"   with Python {', '.join(found)}")


def test_a_missing_package_is_named(root: Path) -> None:
    python = next(iter(interpreters().values()), None)
    if python is None:
        raise Skip("no Python is here by its name")
    trace = small(root)
    for use, package in (("sql('SELECT 1').df()", "pyarrow"), ("dask()", "dask"), ("plot.sizes()", "matplotlib")):
        text = f"import fathom\ntry: fathom.open({str(trace)!r}).{use}\nexcept fathom.Error as error: print(error)"
        said = ran(python, "-S", "-c", text)
        expect(use, True, said.startswith(f"{package} is not installed; pip install 'fathom["))


def test_a_library_that_is_not_there_is_told(root: Path) -> None:
    text = "import fathom\ntry: fathom.open('x')\nexcept fathom.Error as error: print(error)"
    said = ran("python3", "-c", text, env={"FATHOM_BUILD": str(root)})
    if f"there is no libfathom_query.so in {root}" not in said:
        raise Failure(said)


def test_the_package_is_typed(root: Path) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("mypy reads all of pandas and Dask; tests/run --full does it")
    need("mypy")
    cache = TOP / ".cache" / "mypy"
    words = ["--strict", "--ignore-missing-imports", "--no-error-summary", "--cache-dir", str(cache)]
    # Those of others' packages that come without types, or with types that differ from version to version.
    words += ["--disable-error-code", "no-untyped-call", "--disable-error-code", "unused-ignore"]
    ran(sys.executable, "-m", "mypy", *words, str(TOP / "python" / "fathom"))

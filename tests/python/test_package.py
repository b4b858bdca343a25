# SPDX-License-Identifier: MIT
"""The package as pip installs it. It compiles everything: only where FATHOM_FULL is set."""

import os
import subprocess
import venv
from pathlib import Path

from kit import TOP, Skip, expect, ran
from world import small

ASK = "import fathom, sys; print(fathom.__version__, fathom.open(sys.argv[1]).events.count(), fathom.__file__)"


def test_pip_installs_it_into_an_environment(root: Path) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("pip compiles everything; tests/run --full does it")
    trace = small(root)
    venv.create(root / "venv", with_pip=True)
    python = root / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TOP]
    bare = {name: value for name, value in os.environ.items() if name not in ("FATHOM_BUILD", "PYTHONPATH")}
    done = subprocess.run(pip, env=bare, capture_output=True, text=True, check=False)
    if "No matching distribution found for scikit-build-core" in done.stderr:
        raise Skip("scikit-build-core cannot be had")
    expect("pip", (0, ""), (done.returncode, done.stderr[-2000:] if done.returncode else ""))
    said = ran("env", "-u", "FATHOM_BUILD", "-u", "PYTHONPATH", python, "-c", ASK, trace).split()
    expect("version, events", ["0.1.0", "12"], said[:2])
    expect("where it is", True, said[2].startswith(str(root / "venv")))
    program = root / "venv" / "bin" / "fathom"
    ran("env", "-u", "FATHOM_BUILD", program, "run", "-q", "-o", root / "own.fathom", "--", "cat", "/etc/passwd")
    counted = "SELECT count(*) > 0 AS some FROM events"
    told = ran("env", "-u", "FATHOM_BUILD", program, "sql", root / "own.fathom", counted, "--format", "csv")
    expect("the program records and asks", ["some", "true"], told.split())
    ran("env", "-u", "FATHOM_BUILD", "-u", "PYTHONPATH", python, "-m", "fathom", "--help")

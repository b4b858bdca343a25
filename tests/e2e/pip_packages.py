# SPDX-License-Identifier: MIT
"""Packages of PyPI for programs that a test runs elsewhere, such as in an image."""

import subprocess
import sys
import tempfile
from pathlib import Path

from jobs import only_one
from kit import Skipped

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "e2e"


def packages(name: str) -> Path:
    """The folder of those that requirements-NAME.txt lists, fetched when it is missing or lists others."""
    wanted = HERE / f"requirements-{name}.txt"
    folder = CACHE / name
    stamp = CACHE / f"{name}.txt"
    with only_one(folder):
        if not stamp.exists() or stamp.read_text() != wanted.read_text():
            fetch(wanted, folder)
            stamp.write_text(wanted.read_text())
    return folder


def fetch(wanted: Path, folder: Path) -> None:
    """By a virtual environment's pip: Debian's interpreter has none of its own."""
    with tempfile.TemporaryDirectory() as place:
        done = ran([sys.executable, "-m", "venv", place])
        pip = [f"{place}/bin/pip", "install", "-q", "--disable-pip-version-check", "--upgrade"]
        if done.returncode == 0:
            done = ran([*pip, "--target", str(folder), "-r", str(wanted)])
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no pip"]
        raise Skipped(f"{wanted.name} cannot be installed: {said[-1]}")


def ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)

# SPDX-License-Identifier: MIT
"""Packages of PyPI for programs that a test runs elsewhere, such as in an image."""

import subprocess
import sys
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
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--upgrade"]
    done = subprocess.run([*pip, "--target", folder, "-r", wanted], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["no pip"]
        raise Skipped(f"{wanted.name} cannot be installed: {said[-1]}")

# SPDX-License-Identifier: MIT
"""DFTracer as PyPI has it for x86_64, both generations: an environment of Python for each."""

from __future__ import annotations

import functools
import gzip
import re
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / ".cache" / "peers"
VERSIONS = {"1.0.3": "pydftracer==1.0.3", "2.2.0": "dftracer==2.2.0"}


@functools.lru_cache(maxsize=None)
def python_with(name: str, package: str, base: str = sys.executable) -> Path | None:
    """The interpreter of an environment that has this package; None where it cannot be had."""
    home = PEERS / name
    python, stamp = home / "bin" / "python3", home / "installed.txt"
    if stamp.exists() and stamp.read_text() == package:
        return python
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", package]
    try:
        subprocess.run([base, "-m", "venv", "--clear", str(home)], check=True, capture_output=True)
        subprocess.run(install, check=True, capture_output=True, timeout=300)
    except (subprocess.SubprocessError, OSError):
        return None
    stamp.write_text(package)
    return python


def library(version: str) -> Path | None:
    python = python_with(f"dftracer-{version}", VERSIONS[version])
    if python is None:
        return None
    found = sorted(python.parent.parent.glob("lib/python3*/site-packages/**/libdftracer_preload.so"))
    return found[0] if found else None


def environment(version: str, log: Path) -> dict[str, str] | None:
    """What a program needs around it to be traced into files that begin with `log`."""
    preload = library(version)
    if preload is None:
        return None
    return {
        "LD_PRELOAD": str(preload),
        "DFTRACER_ENABLE": "1",
        "DFTRACER_INIT": "PRELOAD",
        "DFTRACER_LOG_FILE": str(log),
        "DFTRACER_DATA_DIR": "all",
        "DFTRACER_INC_METADATA": "1",
    }


def text_of(file: Path) -> str:
    """As much of a file as can be read, unpacked where it is gzip."""
    if not file.name.endswith(".gz"):
        return file.read_text(errors="replace")
    pieces = []
    try:
        with gzip.open(file, "rt", errors="replace") as stream:
            pieces.extend(stream)
    except (OSError, EOFError, ValueError):
        pass
    return "".join(pieces)


def events_of(log: Path, pattern: str) -> int:
    """How many events whose name fits the pattern its files hold."""
    mark = re.compile(rf'"name":\s*"{pattern}"')
    files = [file for file in log.parent.glob(f"{log.name}*") if ".pfw" in file.name]
    return sum(len(mark.findall(text_of(file))) for file in files)

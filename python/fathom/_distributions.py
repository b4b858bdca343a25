# SPDX-License-Identifier: MIT
"""Which distributions of DFTracer's names are installed: ours, or those of PyPI, which hold files of the same names."""

from __future__ import annotations

import os
import sys
from typing import Any

NAMES = ("pydftracer", "dftracer")
OURS = "fathom"  # begins the local part of our versions
_SUFFIX = ".dist-info"


def version_of(name: str, else_: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # from the source tree
        return else_


def parts_of(version: str) -> tuple[Any, ...]:
    """(2, 2, 0, '+fathom.0.1.0')"""
    public, plus, local = version.partition("+")
    numbers = (int(part) if part.isdigit() else part for part in public.split("."))
    return (*numbers, plus + local) if plus else tuple(numbers)


def foreign(folder: str) -> list[str]:
    """Those of PyPI among a folder's packages. By their directories: Python's own way takes 20 ms."""
    try:
        with os.scandir(folder) as entries:
            infos = sorted(entry.name[: -len(_SUFFIX)] for entry in entries if entry.name.endswith(_SUFFIX))
    except OSError:
        return []
    parts = [info.partition("-") for info in infos]
    return [f"{name} {version}" for name, _, version in parts if name in NAMES and f"+{OURS}" not in version]


def say_what_is_foreign(folder: str) -> None:
    found = foreign(folder)
    if found:
        sys.stderr.write(
            f"fathom: {' and '.join(found)} of PyPI is installed, which records without Fathom; this replaces it, in "
            "Fathom's source tree or with its wheels: pip install ./packaging/pydftracer ./packaging/dftracer\n"
        )

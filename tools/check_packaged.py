#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what a package carries starts on every system that it is promised to.

Every ELF file may ask for nothing newer than glibc 2.31, and need only libraries of glibc, those that the package
carries, and the run-time library of gcc. DuckDB, which comes compiled, needs libstdc++, of gcc 10 or older. Libraries
that are loaded late need static TLS that the loader can give them: on aarch64 it is aligned to 16 bytes.
usage: tools/check_packaged.py FOLDER [--prefix aarch64-linux-gnu-]   FOLDER: the unpacked package
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Set

GLIBC = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}  # fmt: skip
GCC = {"libgcc_s.so.1"}
CXX = {"libduckdb.so": {"libstdc++.so.6"}}
NEWEST = {"GLIBC": (2, 31), "GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12), "GCC": (7, 0, 0)}  # as Debian 11 has them
ALWAYS = ("fathom", "libfathom.so", "libfathom_query.so", "libduckdb.so")


def elf_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def readelf(prefix: str, flag: str, path: Path) -> str:
    command = [f"{prefix}readelf", flag, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def version_problems(prefix: str, path: Path) -> Iterator[str]:
    needs = readelf(prefix, "-VW", path).partition("Version needs")[2]
    for name, number in sorted(set(re.findall(r"Name: ([A-Z]+)_(\S+)", needs))):
        version = tuple(int(part) for part in re.findall(r"\d+", number))
        if name not in NEWEST or not version or version > NEWEST[name]:
            yield f"asks for {name}_{number}"


def library_problems(prefix: str, path: Path, carried: Set[str]) -> Iterator[str]:
    dynamic = readelf(prefix, "-dW", path)
    allowed = GLIBC | GCC | carried | CXX.get(path.name, set())
    for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
        if needed not in allowed:
            yield f"needs {needed}, which is not part of the package"
    for places in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        if places != "$ORIGIN":
            yield f"looks for libraries in '{places}'"


def tls_problems(prefix: str, path: Path) -> Iterator[str]:
    if "AArch64" not in readelf(prefix, "-hW", path):
        return
    for alignment in re.findall(r"^ *TLS .* (0x[0-9a-f]+)$", readelf(prefix, "-lW", path), re.MULTILINE):
        if int(alignment, 16) > 16:
            yield f"has static TLS aligned to {int(alignment, 16)} bytes, so that it cannot be loaded late"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--prefix", default="", help="of readelf")
    arguments = parser.parse_args()
    files = list(elf_files(arguments.folder))
    carried = {path.name for path in files}
    problems = [f"there is no {name}" for name in ALWAYS if name not in carried]
    for path in files:
        found = [*version_problems(arguments.prefix, path), *library_problems(arguments.prefix, path, carried)]
        found += tls_problems(arguments.prefix, path)
        problems += [f"{path.relative_to(arguments.folder)}: {problem}" for problem in found]
    print("\n".join([*problems, f"check_packaged: {len(files)} ELF files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the Python package as a wheel out of a build for packages, without compiling anything again.

It carries the extension for every Python that the build found (FATHOM_PYTHON), and prints which. On others the package
works, too: recordings can be asked, and annotations do nothing.
usage: tools/wheel.py STAGE BUILD OUT [--arch ARCH]   STAGE: the installed tree; BUILD: the folder that it was built in
"""

import argparse
import base64
import hashlib
import platform
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
GLIBC = "2_31"  # tools/check_packaged.py holds the files against it
Members = dict[str, Path]


def library_files(stage: Path, build: Path) -> Members:
    """What pyproject.toml's build puts into fathom/lib (cmake/install.cmake)."""
    places = {stage / "lib/fathom": "", stage / "include": "include/", build / "dftracer": "dftracer/"}
    found: Members = {}
    for folder, below in places.items():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in (".so", ".c", ".h", ".hpp", "") and "CMakeFiles" not in path.parts:
                found[f"fathom/lib/{below}{path.relative_to(folder)}"] = path
    config = "lib/cmake/dftracer/dftracer-config.cmake"
    return {**found, f"fathom/lib/{config}": stage / config}


def package_files() -> Members:
    found: Members = {}
    for package in ("fathom", "dftracer", "pydftracer"):
        for path in sorted((ROOT / "python" / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[str(path.relative_to(ROOT / "python"))] = path
    return found


def metadata(project: dict, version: str) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}"]
    lines += [f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text()])


def described(project: dict, version: str, tag: str) -> Iterator[tuple[str, bytes]]:
    folder = f"{project['name']}-{version}.dist-info"
    scripts = "".join(f"{name} = {place}\n" for name, place in project["scripts"].items())
    yield f"{folder}/METADATA", metadata(project, version).encode()
    yield f"{folder}/WHEEL", f"Wheel-Version: 1.0\nGenerator: fathom\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    yield f"{folder}/entry_points.txt", f"[console_scripts]\n{scripts}".encode()
    yield f"{folder}/LICENSE", (ROOT / "LICENSE").read_bytes()


def write_wheel(path: Path, members: Members, texts: dict[str, bytes], record: str) -> None:
    rows = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in [*sorted(members), *texts]:
            content = texts[name] if name in texts else members[name].read_bytes()
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            runs = name in members and members[name].stat().st_mode & 0o111
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(content)}")
        wheel.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("stage", "build", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--arch", default=platform.machine(), help="that it was built for (default: this machine's)")
    arguments = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = re.search(r"project\(fathom VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    version = found[1] if found else "0"
    tag = f"py3-none-manylinux_{GLIBC}_{arguments.arch}"
    members = {**package_files(), **library_files(arguments.stage, arguments.build)}
    path = arguments.out / f"{project['name']}-{version}-{tag}.whl"
    write_wheel(path, members, dict(described(project, version, tag)), f"{project['name']}-{version}.dist-info/RECORD")
    pythons = sorted(re.findall(r"_record\.(cpython-\w+)-", "\n".join(members)))
    print(f"{path.name}: extensions for {', '.join(pythons) or 'no Python'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

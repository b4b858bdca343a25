#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the Python package as a wheel out of a build for packages, without compiling anything again, and beside it the
wheels `pydftracer` and `dftracer` (packaging/), by which pip is content with the drop-in.

It carries the extension for every Python that the build found (FATHOM_PYTHON), and prints which. On others the package
works, too: recordings can be asked, and annotations do nothing.
usage: tools/wheel.py STAGE BUILD OUT [--arch ARCH]   STAGE: the installed tree; BUILD: the folder that it was built in
"""

import argparse
import base64
import hashlib
import importlib.util
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
    for path in sorted((stage / "lib/cmake/dftracer").iterdir()):
        found[f"fathom/lib/lib/cmake/dftracer/{path.name}"] = path
    return found


def package_files() -> Members:
    """The modules, and the file by which Python finds the drop-ins among them."""
    found: Members = {"fathom_drop_ins.pth": ROOT / "python" / "fathom_drop_ins.pth"}
    for name, source in described_by(ROOT)["tool"]["scikit-build"]["wheel"]["packages"].items():
        for path in sorted((ROOT / source).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[f"{name}/{path.relative_to(ROOT / source)}"] = path
    return found


def thin_files(build: Path) -> Members:
    """What packaging/dftracer/CMakeLists.txt puts into dftracer/."""
    found: Members = {"dftracer/include/dftracer/dftracer.h": ROOT / "include/dftracer/dftracer.h"}
    for folder in ("lib", "lib64"):
        for path in sorted((build / "packaging/dftracer/dftracer").glob("*.so")):
            found[f"dftracer/{folder}/{path.name}"] = path
        for name in ("dftracer-config.cmake", "dftracer-config-version.cmake"):
            found[f"dftracer/{folder}/cmake/dftracer/{name}"] = ROOT / "cmake" / name
    return found


def described_by(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def provided_version(folder: Path, settings: dict) -> str:
    """As the project's own module says it to pip's build."""
    place = folder / settings["provider-path"] / f"{settings['provider']}.py"
    spec = importlib.util.spec_from_file_location(settings["provider"], place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.dynamic_metadata("version", settings)


def project_in(folder: Path) -> dict:
    """With its version, which pip's build of the package reads in CMakeLists.txt, or asks a module for."""
    described = described_by(folder)
    settings = described["tool"]["scikit-build"].get("metadata", {}).get("version", {})
    if "provider-path" in settings:
        return {"version": provided_version(folder, settings), **described["project"]}
    found = re.search(r"project\(fathom VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    return {"version": found[1] if found else "0", **described["project"]}


def metadata(project: dict) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines += [f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    lines += [f"Requires-Dist: {need}" for need in project.get("dependencies", [])]
    for extra, needs in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    if "readme" not in project:
        return "\n".join([*lines, ""])
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text()])


def described(project: dict, tag: str) -> Iterator[tuple[str, bytes]]:
    folder = f"{project['name']}-{project['version']}.dist-info"
    scripts = "".join(f"{name} = {place}\n" for name, place in project.get("scripts", {}).items())
    pure = "true" if tag.endswith("-any") else "false"
    wheel = f"Wheel-Version: 1.0\nGenerator: fathom\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    yield f"{folder}/METADATA", metadata(project).encode()
    yield f"{folder}/WHEEL", wheel.encode()
    if scripts:
        yield f"{folder}/entry_points.txt", f"[console_scripts]\n{scripts}".encode()
    yield f"{folder}/LICENSE", (ROOT / "LICENSE").read_bytes()


def make_wheel(project: dict, members: Members, platform_tag: str, out: Path) -> Path:
    tag = f"py3-none-{platform_tag}"
    name = f"{project['name']}-{project['version']}"
    write_wheel(out / f"{name}-{tag}.whl", members, dict(described(project, tag)), f"{name}.dist-info/RECORD")
    return out / f"{name}-{tag}.whl"


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
    platform_tag = f"manylinux_{GLIBC}_{arguments.arch}"
    members = {**package_files(), **library_files(arguments.stage, arguments.build)}
    path = make_wheel(project_in(ROOT), members, platform_tag, arguments.out)
    make_wheel(project_in(ROOT / "packaging/pydftracer"), {}, "any", arguments.out)
    make_wheel(project_in(ROOT / "packaging/dftracer"), thin_files(arguments.build), platform_tag, arguments.out)
    pythons = sorted(re.findall(r"_record\.(cpython-\w+)-", "\n".join(members)))
    print(f"{path.name}: extensions for {', '.join(pythons) or 'no Python'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

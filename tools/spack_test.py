# SPDX-License-Identifier: MIT
"""The recipe for Spack against the build that it describes: options and libraries are those of CMake.

Spack itself is not needed: modules of its names write down what the recipe declares.
"""

import re
import sys
import unittest
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Callable, Dict, List, Set, Tuple
from unittest import mock

TOP = Path(__file__).resolve().parent.parent
REPOSITORY = TOP / "packaging/spack/spack_repo/fathom"
RECIPE = REPOSITORY / "packages/fathom/package.py"
# CMake's name of a library, and Spack's. What CMake needs and Spack has not comes from the system, as the recipe says.
LIBRARIES = {
    "CLI11": "cli11", "nlohmann_json": "nlohmann-json", "PkgConfig": "pkgconfig", "ZLIB": "zlib-api", "fmt": "fmt",
    "simdjson": "simdjson", "yaml-cpp": "yaml-cpp", "libdw": "elfutils", "liblzma": "xz",
    "libzstd": "zstd",
}  # fmt: skip
OF_FLEET = {"Boost": "boost", "OpenSSL": "openssl", "SQLite3": "sqlite"}  # what it can be built without
TOOLS = {"c", "cxx", "cmake", "python", "llvm"}
NOT_IN_SPACK = ("protozero", "libbpf")
Directive = Tuple[str, Tuple[Any, ...], Dict[str, Any]]


class CMakePackage:
    """What the recipe asks of Spack's class."""

    def __init__(self, **variants: bool) -> None:
        self.variants = variants
        self.spec = {"python": SimpleNamespace(command=SimpleNamespace(path="/usr/bin/python3"))}

    def define(self, name: str, value: object) -> str:
        return f"-D{name}={value}"

    def define_from_variant(self, name: str, variant: str) -> str:
        return self.define(name, self.variants[variant])


def declared() -> Tuple[List[Directive], Any]:
    found: List[Directive] = []

    def directive(name: str) -> Callable[..., None]:
        return lambda *words, **more: found.append((name, words, more))

    package = ModuleType("spack.package")
    for name in ("depends_on", "license", "maintainers", "variant", "version"):
        setattr(package, name, directive(name))
    cmake = ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.__dict__.update(CMakePackage=CMakePackage, generator=directive("generator"))
    parents = ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems")
    modules = {name: ModuleType(name) for name in parents}
    with mock.patch.dict(sys.modules, {**modules, package.__name__: package, cmake.__name__: cmake}):
        space: Dict[str, Any] = {}
        exec(compile(RECIPE.read_text(), str(RECIPE), "exec"), space)
    return found, space["Fathom"]


def cmake_texts() -> str:
    files = [*(TOP / "cmake").glob("*.cmake"), TOP / "CMakeLists.txt", TOP / "python/CMakeLists.txt"]
    return "\n".join(path.read_text() for path in files)


def required_libraries() -> Set[str]:
    text = (TOP / "cmake/dependencies.cmake").read_text()
    found = re.findall(r"(?:find_package|pkg_check_modules)\(([\w-]+) REQUIRED", text)
    return set(found) - {"Threads", "GTest"}  # GTest: FATHOM_TESTS alone


class Spack(unittest.TestCase):
    def test_names(self) -> None:
        self.assertIn("namespace: fathom", (REPOSITORY / "repo.yaml").read_text())
        directives, recipe = declared()
        self.assertEqual(recipe.__name__, "Fathom")
        self.assertIn(("license", ("MIT",), {}), directives)
        self.assertIn(("generator", ("ninja",), {}), directives)

    def test_libraries(self) -> None:
        self.assertEqual(set(LIBRARIES), required_libraries())
        directives, _ = declared()
        specs = [words[0] for name, words, _ in directives if name == "depends_on"]
        names = {re.split(r"[@+ ]", spec)[0] for spec in specs}
        self.assertEqual(names, set(LIBRARIES.values()) | set(OF_FLEET.values()) | TOOLS)
        fleet = re.findall(r"find_package\((\w+)", (TOP / "cmake/fleet.cmake").read_text())
        self.assertEqual(set(OF_FLEET), set(fleet))
        for name in NOT_IN_SPACK:
            self.assertIn(name, RECIPE.read_text())

    def test_version_of_cmake(self) -> None:
        needed = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (TOP / "CMakeLists.txt").read_text())
        assert needed
        self.assertIn(f'"cmake@{needed[1]}:"', RECIPE.read_text())

    def test_options(self) -> None:
        directives, recipe = declared()
        variants = {words[0]: more["default"] for name, words, more in directives if name == "variant"}
        conditions = {more["when"].lstrip("+~") for _, _, more in directives if "when" in more}
        self.assertLessEqual(conditions, set(variants))
        options = set(re.findall(r"(?:option|set)\((FATHOM_\w+) [^)]*?\b(?:CACHE|ON|OFF)\b", cmake_texts()))
        arguments = recipe(**variants).cmake_args()
        self.assertIn("-DFATHOM_BPF=True", arguments)
        for argument in arguments:
            name = argument[2:].partition("=")[0]
            self.assertIn(name, options)


if __name__ == "__main__":
    unittest.main()

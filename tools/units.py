#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which files of a room are compiled together, as one unit: most of the time goes to headers and templates that all of
them use.

A file does not come into a unit where a name of its own (in a namespace without a name) is one that another file says,
or that a header declares which only the other file includes: so no name means anything else than it does when each
file is compiled alone, as builds with -DFATHOM_UNITS=OFF do.
usage: tools/units.py OUT TOP FILE...    for CMake: the files of each unit, in OUT, which is changed as little as
                                         possible; for ninja: what that depends on, in OUT.d. FILEs are below TOP
       tools/units.py --commands BUILD   prints the build's compile_commands.json, with a command for each file
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set

import namespaces

MOST_FILES = 8
# What clang-format leaves at a line's begin: a type, or a function or variable, whose name stands before ( = { [ or ;
DECLARATION = re.compile(
    r"^(?=\w)(?:template <.*>\s*)?(?:(?:struct|class|union|enum(?: class)?|using)\s+(?:\w+::)*(\w+)"
    r"|[\w:<>,*&\s\[\]]*?[\s*&>](\w+)\s*(?:\(|=|\{|\[|;|$))"
)
ENUM = re.compile(r"^enum (?!class)[^{]*\{([^}]*)\}", re.MULTILINE)
ENUM_CLASS = re.compile(r"^enum class (\w+)[^{;]*\{([^}]*)\}", re.MULTILINE)
USED_ENUM = re.compile(r"^using enum (?:\w+::)*(\w+);", re.MULTILINE)
COMMENT = re.compile(r"//.*")
WORD = re.compile(r"\b[A-Za-z_]\w+\b")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
UNIT = re.compile(r"/Unity/unity_[^/]*$")
PART = re.compile(r'^#include "(/[^"]+)"', re.MULTILINE)


def words_in(text: str) -> Set[str]:
    return set(WORD.findall(COMMENT.sub("", text)))


def declared(text: str, own: bool) -> Set[str]:
    """The names that a text declares in its namespaces: those of the file alone, or all."""
    names: Set[str] = set()
    for _, line, inside in namespaces.lines_of(text):
        if (not own or "" in inside or line.startswith("static ")) and (found := DECLARATION.match(line)):
            names.add(found[1] or found[2])
    return names


class Headers:
    """The repository's own headers, below src/."""

    def __init__(self, src: Path) -> None:
        self.texts = {path.relative_to(src).as_posix(): path.read_text(errors="replace") for path in src.rglob("*.h")}
        self.names = {name: declared(text, own=False) for name, text in self.texts.items()}
        enums = (ENUM_CLASS.finditer(text) for text in self.texts.values())
        self.enums = {enum[1]: words_in(enum[2]) for found in enums for enum in found}

    def reached_from(self, text: str) -> Set[str]:
        reached: Set[str] = set()
        ahead = INCLUDE.findall(text)
        while ahead:
            name = ahead.pop()
            if name in self.texts and name not in reached:
                reached.add(name)
                ahead += INCLUDE.findall(self.texts[name])
        return reached


class File:
    def __init__(self, name: str, text: str, headers: Headers) -> None:
        self.name = name
        self.said = words_in(text)
        self.own = declared(text, own=True)
        for enum in ENUM.findall(text):
            self.own |= words_in(enum)
        for used in USED_ENUM.findall(text):
            self.own |= headers.enums.get(used, set())
        self.headers = headers.reached_from(text)

    def gets_along(self, other: "File", headers: Headers) -> bool:
        return not self.misread(other, headers) and not other.misread(self, headers)

    def misread(self, other: "File", headers: Headers) -> bool:
        """Whether a name of its own is one that the other file says, or that only the other's headers declare."""
        foreign = (headers.names[name] for name in other.headers - self.headers)
        return bool(self.own & other.said) or any(self.own & names for names in foreign)


def units_of(files: List[File], headers: Headers, before: List[Set[str]]) -> List[List[File]]:
    """Each file stays in the unit where it was before, or comes into the first one, where it fits."""
    units: List[List[File]] = [[] for _ in before]

    def fits(file: File, unit: List[File]) -> bool:
        return len(unit) < MOST_FILES and all(file.gets_along(other, headers) for other in unit)

    def places(file: File) -> Iterator[List[File]]:
        yield from (unit for unit, names in zip(units, before) if file.name in names)
        yield from units

    for file in sorted(files, key=lambda file: not any(file.name in names for names in before)):
        for unit in places(file):
            if fits(file, unit):
                unit.append(file)
                break
        else:
            units.append([file])
    return [unit for unit in units if unit]


def cmake_text(top: Path, names: List[str], before: str) -> str:
    """Tests are a program of their own. Files that are gone are left out: ninja asks before CMake looks for them."""
    headers = Headers(top.parent)
    there = [name for name in sorted(names) if (top / name).exists()]
    files = [File(name, (top / name).read_text(errors="replace"), headers) for name in there]
    text = "# Made by tools/units.py.\n"
    for kind in ("code", "tests"):
        members = [file for file in files if file.name.endswith("_test.cc") == (kind == "tests")]
        blocks = re.findall(rf"\(([^()]*) UNITY_GROUP {kind}_", before)
        kept = [{os.path.relpath(name, top) for name in re.findall(r'"([^"]*)"', block)} for block in blocks]
        for number, unit in enumerate(units_of(members, headers, kept)):
            places = "\n  ".join(f'"{top / file.name}"' for file in unit)
            text += f"set_source_files_properties({places}\n  PROPERTIES UNITY_GROUP {kind}_{number})\n"
    return text


def dependencies(out: Path, top: Path, names: List[str]) -> str:
    """As make writes them: ninja takes what is gone from such a list as changed, and from a rule as an error."""
    here = Path(__file__).resolve().parent
    paths = [
        *(top / name for name in names),
        *sorted(top.parent.rglob("*.h")),
        here / "units.py",
        here / "namespaces.py",
    ]
    return f"{escaped(out)}: {' '.join(map(escaped, paths))}\n"


def escaped(path: Path) -> str:
    return re.sub(r"([ #\\])", r"\\\1", str(path)).replace("$", "$$")


def parts_of(source: str) -> List[str]:
    """The files of a unit; of another file itself."""
    return PART.findall(Path(source).read_text()) if UNIT.search(source) else [source]


def commands_of(build: Path) -> Iterator[Dict[str, str]]:
    """The commands of the build, those of a unit once for each of its files."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for part in parts_of(entry["file"]):
            yield {**entry, "file": part, "command": entry["command"].replace(entry["file"], part)}


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--commands":
        json.dump(list(commands_of(Path(sys.argv[2]))), sys.stdout, indent=1)
        return 0
    out, top, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    before = out.read_text() if out.exists() else ""
    text = cmake_text(top, names, before)
    if text != before:
        out.write_text(text)
    Path(f"{out}.d").write_text(dependencies(out, top, names))
    return 0


if __name__ == "__main__":
    sys.exit(main())

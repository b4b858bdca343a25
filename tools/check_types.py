#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no two types have one name, and no two constants of headers.

Two files that define different types under one name, in one namespace and one program, are an error that neither
compiler nor linker tells: of the functions that templates make from both, the linker keeps those of one. A vector of
the one type is then destroyed as one of the other. Of two inline constants it keeps one, too, and both files read that.
usage: tools/check_types.py [SRC]
"""

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import DefaultDict, Dict, Iterator, List, Tuple

import namespaces

# clang-format puts what stands in a namespace at the line's begin. `struct Store::State {` is part of another type.
TYPE = re.compile(
    r"^(?:template <.*>\s*)?(?:struct|class|union|enum(?: class)?)\s+(?:(?:alignas\(\w+\)|\[\[\w+\]\])\s+)*"
    r"([A-Za-z_]\w*)(?!\w|::)[^;()]*(?:\{|$)"
)
CONSTANT = re.compile(r"^inline (?:constexpr|const)\b[^=({]*?\b(\w+)(?:\[\w*\])?\s*[={]")
# Programs of the kernel's, which are not linked with others.
ELSEWHERE = re.compile(r"\.bpf\.(c|h)$")


def names_of(text: str) -> Iterator[Tuple[int, str]]:
    """Line and full name of what other files could see; what is in a namespace without a name is its file's."""
    for number, line, inside in namespaces.lines_of(text):
        if "" not in inside and (found := TYPE.match(line) or CONSTANT.match(line)):
            yield number, "::".join([*inside, found[1]])


def problems_of(src: Path) -> List[str]:
    places: DefaultDict[str, Dict[str, int]] = defaultdict(dict)  # files with the line; in one file #if chooses
    for path in sorted(src.rglob("*")):
        name = path.relative_to(src).as_posix()
        if path.suffix in {".h", ".cc"} and not ELSEWHERE.search(name):
            for number, full in names_of(path.read_text(errors="replace")):
                places[full].setdefault(name, number)
    told = {full: [f"{name}:{number}" for name, number in found.items()] for full, found in places.items()}
    return [f"{full} is defined in {' and '.join(found)}" for full, found in sorted(told.items()) if len(found) > 1]


def main() -> int:
    src = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "src")
    problems = problems_of(src)
    for problem in problems:
        print(f"{problem}; one of them needs another name")
    print(f"check_types: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

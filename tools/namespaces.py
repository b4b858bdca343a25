# SPDX-License-Identifier: MIT
"""Reads C++ as clang-format leaves it: what a namespace holds begins at the line's begin, its end is named."""

import re
from typing import Iterator, List, Tuple

BEGIN = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{(?!.*\})")
END = re.compile(r"^\}  // namespace")


def lines_of(text: str) -> Iterator[Tuple[int, str, List[str]]]:
    """Number and text of each line, with the namespaces around it; one without a name is ""."""
    inside: List[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if begin := BEGIN.match(line):
            inside.append(begin[1])
        elif END.match(line) and inside:
            inside.pop()
        else:
            yield number, line, inside

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the rooms of src/ include only what the house allows (ARCHITECTURE.md).

The tables below are the rule; a new arrow is a change of the design, made here on purpose. Every room
of the table has a README.md: what it is for, what may come in, where to begin reading.
usage: tools/check_layers.py [SRC]
"""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Set, Tuple

# Room -> rooms that its files may include, besides their own. A name with a stroke is a room inside
# another: `trace` to the right of an arrow means all rooms of src/trace, `session` the files that stand
# directly in src/session and, from above, its rooms too. `sources` means the headers that stand directly
# in src/sources; every folder below it is a room of its own, see `rule_for`.
MAY_INCLUDE: Dict[str, Set[str]] = {
    "base": set(),
    "wire": set(),
    "sql": {"base"},
    "symbols": {"base"},
    "perf": {"base"},
    "guest": {"wire"},
    "trace/rows": {"wire", "base"},
    "trace/decode": {"trace/rows", "wire", "base"},
    "trace/spool": {"trace/decode", "trace/rows", "wire", "base"},
    "trace/recording": {"trace/spool", "trace/decode", "trace/rows", "wire", "sql", "base"},
    "trace/testing": {"trace", "wire", "sql", "base"},
    "sources": {"trace", "symbols", "perf", "base", "wire"},
    "session": {"sources", "trace", "perf", "base", "wire"},
    "session/stream": {"session", "sources", "trace", "base", "wire"},
    "session/run": {"session/stream", "session", "sources", "trace", "base", "wire"},
    "session/stat": {"session/run", "session", "perf", "base"},
    "session/watch": {"session/stream", "session", "sources", "trace", "base", "wire"},
    "session/attach": {
        "session/run", "session/watch", "session", "sources", "trace", "base",
    },
    "analysis": {"trace", "sql", "base"},
    "analysis/application": {"analysis", "base"},
    "analysis/canvas": {"analysis", "trace", "sql", "base"},
    "render": {"analysis", "base"},
    "convert": {"session", "analysis", "render", "trace", "sql", "wire", "base"},
    "capi": {"fleet", "sources", "analysis", "render", "trace", "sql", "base"},
    "fleet": {"analysis", "render", "base"},
    "fleet/http": {"base"},
    "fleet/redis": {"fleet", "render", "base"},
    "fleet/sqlite": {"fleet", "base"},
    "fleet/stores": {"fleet/redis", "fleet/sqlite", "fleet/http", "fleet", "render", "base"},
    "fleet/recordings": {"fleet/stores", "fleet/http", "fleet", "analysis", "trace", "base"},
    "fleet/agents": {"fleet", "analysis", "render", "base"},
    "fleet/executors": {"fleet/http", "session", "base"},
    "fleet/suite": {"fleet/executors", "fleet", "analysis", "base"},
    "containers": {
        "fleet", "convert", "session", "sources", "analysis", "render", "trace", "symbols", "base",
    },
    "serve": {"serve/page", "serve/routes", "serve/recordings", "serve/http", "fleet", "base"},
    "serve/http": {"fleet", "render", "base"},
    "serve/recordings": {"serve/http", "fleet", "analysis", "render", "trace", "base"},
    "serve/routes": {"serve/recordings", "serve/http", "fleet", "analysis", "render", "base"},
    "serve/testing": {"serve", "fleet", "analysis", "base"},
    "serve/page": {
        "serve/routes", "serve/recordings", "serve/http", "fleet", "convert", "analysis", "render", "base",
    },
    "cli": {
        "base", "sql", "perf", "wire", "trace", "sources",
        "session", "analysis", "render", "convert", "fleet", "containers", "serve",
    },
}  # fmt: skip

# Third-party header -> the rooms that wrap it. What is not named here is free to all host code.
WRAPPED_BY: Dict[str, Set[str]] = {
    r"duckdb\.h": {"sql"},
    r"(elfutils/.*|dwarf\.h|libelf\.h|gelf\.h)": {"symbols"},
    r"lzma\.h": {"symbols"},
    r"CLI/.*": {"cli"},
    r"bpf/.*": {"sources/ebpf"},
    r"linux/perf_event\.h": {"perf", "sources/ebpf", "sources/perf"},
    r"Python\.h": {"sources/python", "sources/dftracer"},
    r"protozero/.*": {"render"},
    r"sqlite3\.h": {"fleet/sqlite"},
    r"boost/.*": {"fleet/http", "fleet/redis", "serve/http"},
    r"openssl/.*": {"fleet", "fleet/http", "fleet/redis", "serve/http", "serve/page"},
}

# Slow to compile: only in .cc files.
NOT_IN_HEADERS = re.compile(r"nlohmann/json\.hpp|CLI/.*|simdjson\.h|boost/.*")

# The C++ headers that need nothing of the run-time library. Guest code may also use C's (*.h).
FREESTANDING = {
    "array", "atomic", "bit", "cerrno", "climits", "concepts", "cstdarg",
    "cstddef", "cstdint", "cstring", "initializer_list", "limits", "new",
    "span", "string_view", "tuple", "type_traits", "utility",
}  # fmt: skip

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
TEST = re.compile(r"_(test|bench|fuzz)\.cc$|/testing/")
GUEST_HALF = re.compile(r"(\.guest\.(cc|h)|\.schema\.h|\.bpf\.(c|h))$")


class Include(NamedTuple):
    line: int
    quoted: bool
    name: str


def includes_of(path: Path) -> Iterator[Include]:
    for number, text in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = INCLUDE.match(text)
        if found:
            yield Include(number, found[1] == '"', found[2])


def room_of(name: str) -> str:
    """`base/files.h` -> `base`; `trace/spool/spool.h` -> `trace/spool`; `sources/posix/x.h` -> `sources/posix`."""
    parts = name.split("/")
    inner = "/".join(parts[:2])
    return inner if len(parts) > 2 and (parts[0] == "sources" or inner in MAY_INCLUDE) else parts[0]


def house_of(room: str) -> str:
    """`trace/spool` -> `trace`: the folder of src/ that a room lies in."""
    return room.split("/")[0]


def is_room(name: str) -> bool:
    return house_of(room_of(name)) == "sources" or room_of(name) in MAY_INCLUDE


def rule_for(name: str) -> Set[str]:
    """The rooms that this file may include."""
    room = room_of(name)
    if GUEST_HALF.search(name):
        # The kinds and calls of all sources are numbered in headers beside source.h; whether such
        # a header is fit for guest code is for leak_into_guest to say.
        return {room, "sources", "guest", "wire"}
    allowed = {room} | MAY_INCLUDE[room if room in MAY_INCLUDE else house_of(room)]
    if house_of(room) == "sources":
        allowed.add("sources")
    if TEST.search(name):
        allowed |= {"base", house_of(room)}  # a test may look at the whole house around its room
    return allowed


def may_reach(name: str, target: str) -> bool:
    allowed = rule_for(name)
    # From inside a house its rooms are told apart; from outside, and for tests, it is one.
    from_outside = house_of(room_of(name)) != house_of(target) or bool(TEST.search(name))
    one_house = house_of(target) != "sources" and house_of(target) in allowed and from_outside
    return target in allowed or one_house


def is_guest(name: str) -> bool:
    return not TEST.search(name) and (room_of(name) in {"guest", "wire"} or bool(GUEST_HALF.search(name)))


def quoted_problem(name: str, include: Include) -> str:
    target = room_of(include.name)
    if include.name.endswith(".skel.h") or target == "fathom":
        return ""  # made by bpftool; the public API
    if not is_room(include.name):
        return f'"{include.name}" does not start with a room; includes start at src/'
    # The list of sources names each of them, in a .cc: nobody above sees their headers.
    if room_of(name) == "sources" and name.endswith(".cc") and target.startswith("sources/"):
        return ""
    if not may_reach(name, target):
        return f"{room_of(name)} must not include {target} ({include.name})"
    return ""


def bracket_problem(name: str, header: str) -> str:
    room = room_of(name)
    for pattern, rooms in WRAPPED_BY.items():
        if re.fullmatch(pattern, header) and room not in rooms:
            return f"<{header}> is wrapped by {' and '.join(sorted(rooms))} alone"
    if name.endswith(".h") and NOT_IN_HEADERS.fullmatch(header):
        return f"<{header}> is slow to compile; include it in a .cc"
    if is_guest(name) and not header.endswith(".h") and header not in FREESTANDING:
        return f"<{header}> needs the C++ run-time library, which guest code does not have"
    return ""


def problems_of(src: Path, name: str) -> Iterator[Tuple[int, str]]:
    for include in includes_of(src / name):
        if include.quoted and (problem := quoted_problem(name, include)):
            yield include.line, problem
        if not include.quoted and (problem := bracket_problem(name, include.name)):
            yield include.line, problem


def leak_into_guest(src: Path, name: str) -> str:
    """The first header that a guest file reaches, over others of its source, and must not."""
    seen: Set[str] = set()
    queue: List[str] = [name]
    while queue:
        for include in includes_of(src / queue.pop()):
            if not include.quoted or include.name in seen or not (src / include.name).is_file():
                continue
            seen.add(include.name)
            # The list of the in-process sources names each of them, by the guest halves of their headers.
            listed = room_of(name) == "sources" and bool(GUEST_HALF.search(include.name))
            if not listed and room_of(include.name) not in {"guest", "wire", "sources", room_of(name)}:
                return include.name
            queue.append(include.name)
    return ""


def rooms_without_readme(src: Path) -> List[str]:
    """The rooms of the table, and the folders around them, that say nothing about themselves."""
    rooms = set(MAY_INCLUDE) | {house_of(room) for room in MAY_INCLUDE}
    return sorted(room for room in rooms if not (src / room / "README.md").is_file())


def main() -> int:
    src = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "src")
    failures = 0
    for room in rooms_without_readme(src):
        print(f"{src / room}: no README.md: what the room is for, what may come in, where to begin reading")
        failures += 1
    files = sorted(p for p in src.rglob("*") if p.suffix in {".h", ".hpp", ".cc", ".c"})
    for path in files:
        name = path.relative_to(src).as_posix()
        if not is_room(name):
            print(f"{path}:1: no room of the house")
            failures += 1
            continue
        for line, problem in problems_of(src, name):
            print(f"{path}:{line}: {problem}")
            failures += 1
        if is_guest(name) and (leak := leak_into_guest(src, name)):
            print(f"{path}:1: guest code reaches {leak}")
            failures += 1
    print(f"check_layers: {len(files)} files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

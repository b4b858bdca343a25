#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the in-process library keeps to its side of the wall.

It may need libc alone, and of libc only the symbols of tools/guest_symbols.allow, none of them
newer than glibc 2.17: the loader of an older system would end the program. It is never unloaded,
relocates no code and few data, needs no executable stack, and takes little thread-local storage.
What short programs and forked children touch lies side by side (src/guest/start.ld).
Hooks of the allocator are in libfathom_heap.so and libpfinterpose_heap.so alone.
usage: tools/check_guest.py [LIBRARY…] [--prefix aarch64-linux-gnu-]   (default: all in build/)
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List, Set

ROOT = Path(__file__).parent.parent
ALLOW_LIST = ROOT / "tools" / "guest_symbols.allow"
NEEDED = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
OLDEST = (2, 17)
TLS_BYTES = 64
RELOCATIONS = 500  # each page that has some costs every program a page fault
RELOCATIONS_ON_AARCH64 = 2500  # gcc writes tables that are filled when needed as constants there
MAPPINGS = 2
# Functions of a forked child, and of a program that begins, by where the kernel's 64 KiB end that they lie in.
AT_START = {"fork": 1 << 16, "_ZN6fathom5guest12attach_childEv": 1 << 16, "_ZN6fathom5guest9attach_toEPKcj": 1 << 17}
IN_ONE_PAGE = ("_ZN6fathom5guest5guestE", "_ZN6fathom5guest12_GLOBAL__N_110pool_countE")
PAGE = 4096
HEAP_LIBRARIES = ("libfathom_heap.so", "libpfinterpose_heap.so")
LEADING = ("libdftracer.so", "libdftracer_core.so", "libdatacrumbs*.so", "python/_record*.so")
HEAP = {
    "malloc", "calloc", "realloc", "reallocarray", "free",
    "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc",
}  # fmt: skip


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def allowed_symbols() -> Set[str]:
    text = re.sub(r"#.*", "", ALLOW_LIST.read_text())
    return set(text.split())


def undefined_symbols(prefix: str, library: Path) -> List[str]:
    lines = output_of(f"{prefix}nm", "-D", "--undefined-only", str(library)).splitlines()
    return sorted(line.split()[-1].split("@")[0] for line in lines)


def symbol_problems(prefix: str, library: Path) -> Iterator[str]:
    allowed = allowed_symbols()
    for symbol in undefined_symbols(prefix, library):
        if symbol not in allowed:
            yield f"needs {symbol}, which {ALLOW_LIST.name} does not allow"


def version_problems(prefix: str, library: Path) -> Iterator[str]:
    """Versions that the loader looks for in libc, those of features (GLIBC_ABI_DT_RELR) among them."""
    needs = output_of(f"{prefix}readelf", "-VW", str(library)).partition("Version needs")[2]
    for name in sorted(set(re.findall(r"Name: (GLIBC_\S+)", needs))):
        number = tuple(int(part) for part in re.findall(r"\d+", name))
        if not number or number > OLDEST or "ABI" in name:
            yield f"asks for {name}; glibc {'.'.join(map(str, OLDEST))} has none"


def heap_problems(prefix: str, library: Path) -> Iterator[str]:
    lines = output_of(f"{prefix}nm", "-D", "--defined-only", str(library)).splitlines()
    defined = HEAP & {line.split()[-1].split("@")[0] for line in lines}
    wanted = HEAP if library.name in HEAP_LIBRARIES else set()
    for symbol in sorted(defined ^ wanted):
        yield f"{'has no' if symbol in wanted else 'has a'} hook of {symbol}"


def dynamic_problems(prefix: str, library: Path) -> Iterator[str]:
    dynamic = output_of(f"{prefix}readelf", "-dW", str(library))
    for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
        if needed not in NEEDED:
            yield f"needs {needed}; guest code has libc alone"
    if "(TEXTREL)" in dynamic:
        yield "has text relocations"
    if not re.search(r"\(FLAGS_1\).*NODELETE", dynamic):
        yield "may be unloaded while its hooks are bound; link with -z nodelete"
    size = re.search(r"\(RELASZ\)\s+(\d+)", dynamic)
    allowed = RELOCATIONS_ON_AARCH64 if "aarch64" in prefix else RELOCATIONS
    if size and int(size[1]) // 24 > allowed:
        yield f"has {int(size[1]) // 24} relocations; {allowed} are allowed (guest/binding.h, Bindings::fill)"


def segment_problems(prefix: str, library: Path) -> Iterator[str]:
    segments = output_of(f"{prefix}readelf", "-lW", str(library))
    stack = re.search(r"GNU_STACK.*\s(R\S*)\s+0x", segments)
    if not stack or "E" in stack[1]:
        yield "asks for an executable stack"
    tls = re.search(r"^\s*TLS(\s+0x[0-9a-f]+){4}\s+(0x[0-9a-f]+)", segments, re.MULTILINE)
    if tls and int(tls[2], 16) > TLS_BYTES:
        yield f"takes {int(tls[2], 16)} bytes of thread-local storage; {TLS_BYTES} are allowed"


def place_problems(prefix: str, library: Path) -> Iterator[str]:
    """Every mapping and every page that is touched is paid for by each process that begins."""
    if "aarch64" in prefix:
        return  # start.ld was measured on x86_64 alone
    if output_of(f"{prefix}readelf", "-lW", str(library)).count("\n  LOAD ") > MAPPINGS:
        yield f"has more than {MAPPINGS} mappings; link with -z noseparate-code"
    lines = output_of(f"{prefix}nm", "--defined-only", str(library)).splitlines()
    places = {line.split()[-1]: int(line.split()[0], 16) for line in lines}
    for symbol, end in AT_START.items():
        if places.get(symbol, 0) >= end:
            yield f"has {symbol} at {places[symbol]:#x}, not below {end:#x}; see src/guest/start.ld"
    if len({places[symbol] // PAGE for symbol in IN_ONE_PAGE if symbol in places}) > 1:
        yield f"has {' and '.join(IN_ONE_PAGE)} in different pages; see src/guest/start.ld"


def is_leading(library: Path) -> bool:
    """Whether it brings libfathom.so along, or the interpreter it: then only the age of libc matters."""
    return library.name.startswith(("libdatacrumbs", "libdftracer", "_record"))


def check(library: Path, prefix: str) -> int:
    if not library.is_file():
        print(f"check_guest: there is no {library}; ./dev build makes it", file=sys.stderr)
        return 3
    everything = (symbol_problems, version_problems, heap_problems, dynamic_problems, segment_problems, place_problems)
    checks = (version_problems,) if is_leading(library) else everything
    problems = [problem for check_one in checks for problem in check_one(prefix, library)]
    for problem in problems:
        print(f"{library}: {problem}")
    print(f"check_guest: {library.name}, {len(problems)} problems")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    build = ROOT / "build"
    usual = [build / name for name in ("libfathom.so", "libpfinterpose.so", *HEAP_LIBRARIES)]
    usual += [path for pattern in LEADING for path in sorted(build.glob(pattern))]
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", type=Path, default=usual)
    parser.add_argument("--prefix", default="", help="of nm and readelf")
    arguments = parser.parse_args()
    return max(check(library, arguments.prefix) for library in arguments.libraries)


if __name__ == "__main__":
    sys.exit(main())

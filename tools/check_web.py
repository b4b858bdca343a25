#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the page's sources without running them: no word by which a stranger's name becomes markup or code,
no plural noun that a number of any size stands before, TypeScript's strict types, prettier's layout, functions that are
too long to be read, and the size of what is served. The script of flame graphs (src/render) is held to the same: it is
part of a picture, not of the page.

Ends with status 77 where the tools to check with cannot be fetched.
usage: tools/check_web.py
"""

import gzip
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / ".cache/web/node_modules"
MOST_BYTES = 500_000  # compressed, of all files together
MOST_LINES = 60  # of a function, as in C++ (.clang-tidy); tests are lists of cases, and free of it
# Each of them makes text into markup or code, or stands in the way of a strict Content-Security-Policy.
FORBIDDEN = {
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser": "text would become markup",
    r"dangerouslySetInnerHTML": "text would become markup",
    r"document\.write": "text would become markup",
    r"\beval\(|new Function\(|setTimeout\([\"'`]|setInterval\([\"'`]": "text would become code",
    r"https?://(?!www\.w3\.org/)": "the page asks nobody but its own server",
    r"javascript:": "text would become code",
}
MARKUP = {r"<script(?![^>]*\bsrc=)": "an inline script", r"<style|\sstyle=|\son[a-z]+=": "inline style or code"}

# A number of any size before a noun says "1 events" one day: logic/units.ts has `counted` for it. NO_NOUNS end with
# an s and are not counted.
PLURAL = re.compile(
    r"""(?:\$?\{[^{}\n]+\}|["'`] ?\+)"""
    r"""\s+(?:["'`] )?(?:<[^>\n]+>)?(?:(?:more|other|of its) )?([a-z]{2,}s)\b(?! ?[=(:/])"""
)
JOINED = re.compile(r"""[\w)\]] \+ ["'`] ?([a-z]{2,}s)\b(?! ?[=(:/])""")
NO_NOUNS = frozenset(
    (
        "as",
        "is",
        "was",
        "has",
        "does",
        "this",
        "its",
        "us",
        "ns",
        "ms",
        "less",
        "across",
        "satisfies",
        "extends",
        "shows",
    )
)


def sources() -> list[Path]:
    files = (ROOT / "web/src").rglob("*")
    return sorted(path for path in files if path.suffix in {".ts", ".tsx", ".css"})


def scripts() -> list[Path]:
    """What is JavaScript, since it goes into a picture as it is."""
    return sorted((ROOT / "src").rglob("*.js"))


def words_in(text: str, forbidden: dict[str, str]) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, why in forbidden.items():
            if found := re.search(pattern, line):
                yield f"{number}: {found[0]!r}: {why}"


def plurals_in(text: str) -> Iterator[str]:
    """Nouns in the plural right behind a number that may be one."""
    flat = text.replace('{" "}', " ")  # prettier keeps a space before a break so
    for pattern in (PLURAL, JOINED):
        for found in pattern.finditer(flat):
            if found[1] not in NO_NOUNS:
                number = flat.count("\n", 0, found.start()) + 1
                yield f"{number}: {found[1]!r} behind a number that may be one: say counted(number, noun)"


def words() -> list[str]:
    read = [*sources(), *scripts()]
    found = [f"{path.relative_to(ROOT)}:{word}" for path in read for word in words_in(path.read_text(), FORBIDDEN)]
    shown = [path for path in sources() if path.suffix != ".css" and not path.name.endswith(".test.ts")]
    found += [f"{path.relative_to(ROOT)}:{word}" for path in shown for word in plurals_in(path.read_text())]
    page = ROOT / "web/index.html"
    return found + [f"web/index.html:{word}" for word in words_in(page.read_text(), MARKUP)]


def said_by(*command: object) -> list[str]:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).strip().splitlines() or ["failed"]


def types() -> list[str]:
    (compiler,) = PACKAGES.glob("@typescript/typescript-linux-*/lib/tsc")
    options = ["--noEmit", "--strict", "--checkJs", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"]
    return said_by(compiler, "-p", "web") + said_by(compiler, *options, *scripts())


def layout() -> list[str]:
    prettier = PACKAGES / "prettier/bin/prettier.cjs"
    others = [*scripts(), *sorted((ROOT / "tests/page").rglob("*.mjs")), *sorted((ROOT / "tools").glob("*.cjs"))]
    return said_by("node", prettier, "--check", "--config", "web/.prettierrc.json", *sources(), *others)


def long_functions(files: list[Path]) -> list[str]:
    command = ["node", ROOT / "tools/web_functions.cjs", PACKAGES, MOST_LINES, *files]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip().splitlines() or ["failed"]
    return [f"{line}; {MOST_LINES} are the limit" for line in done.stdout.replace(f"{ROOT}/", "").splitlines()]


def functions() -> list[str]:
    own = [path for path in sources() if path.suffix != ".css" and ".test." not in path.name]
    return long_functions(own + scripts())


def size_problems(files: dict[str, bytes]) -> list[str]:
    size = sum(len(gzip.compress(content, 9, mtime=0)) for content in files.values())
    print(f"check_web: the page has {size} bytes compressed; {MOST_BYTES} are the limit")
    return [] if size <= MOST_BYTES else [f"{size} bytes compressed; {MOST_BYTES} are the limit"]


def size() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        said = said_by("tools/build_web.sh", Path(folder) / "dist")
        return said or size_problems({path.name: path.read_bytes() for path in Path(folder, "dist").iterdir()})


def main() -> int:
    failures = words()
    fetched = subprocess.run([ROOT / "tools/fetch_web.sh", "--tests"], capture_output=True, text=True, check=False)
    if fetched.returncode == 0:
        for check in (types, layout, functions, size):
            failures += [f"{check.__name__}: {line}" for line in check()]
    print("\n".join(failures) or "check_web: ok")
    if failures:
        return 1
    if fetched.returncode != 0:
        print(fetched.stderr.strip())
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())

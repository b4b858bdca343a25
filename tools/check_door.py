#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that files of a recording are opened by the one door, base/directory.h.

A recording may come from anybody: a link, a FIFO or a device may stand where a file is expected. The door refuses
those; opening by a path does not. Whoever opens something that no recording named is listed below, with the reason.
usage: tools/check_door.py [SRC]
"""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

ROOMS = ("trace", "analysis")
TEXT = re.compile(r'"(\\.|[^"\\])*"')
NOT_OURS = re.compile(r"_(test|bench|fuzz)\.cc$|(^|/)testing/|_test\.h$")

# What opens, lists, makes or removes by a path.
BY_PATH = re.compile(
    r"\b(File::open|read_file|list_dir|path_exists|is_directory|write_file_atomic|rename_path|remove_tree"
    r"|make_dirs|ifstream|ofstream|fopen|opendir|std::filesystem)\b"
    r"|(?<!\w)::(open|openat|stat|lstat|unlink|rename|mkdir|access|truncate)\("
)

# File, or folder with a slash at its end -> what it may use, and why.
MAY: Dict[str, Tuple[str, str]] = {
    "trace/recording/recording_writer.cc": (
        "path_exists remove_tree make_dirs rename_path",
        "makes a recording that is new",
    ),
    "trace/recording/recording.cc": ("::stat", "says why the caller's own path is no recording"),
    "trace/recording/recover.cc": ("remove_tree", "follows no link; in a recording of our own"),
    "trace/recording/finish.cc": ("remove_tree", "follows no link; in a recording of our own"),
    "trace/recording/obstacle.cc": ("File::open ::stat", "programs, of recordings of our own"),
    "trace/recording/newest.cc": ("::stat path_exists make_dirs", "this user's own note of what it recorded"),
    "trace/recording/trust.cc": ("::stat", "modules, of recordings of our own"),
    "trace/spool/liveness.cc": ("read_file", "/proc"),
    "trace/spool/mappers.cc": ("::stat read_file list_dir", "/proc"),
    "trace/spool/pid_spaces.cc": ("::stat read_file path_exists list_dir", "/proc"),
    "trace/spool/chunk_log.cc": ("::lstat ::unlink", "asks whether the path still names its file; follows no link"),
    "trace/spool/drainer_logs.cc": ("File::open", "/proc/self/fd"),
    "trace/rows/paged_store.cc": ("::open", "a file without a name"),
    "trace/spool/pool.cc": ("::open ::lstat ::unlink", "the file that is mapped, by its inode; follows no link"),
    "trace/spool/run_page.cc": ("::open path_exists write_file_atomic", "the recorder's own header; follows no link"),
    "trace/spool/spool.cc": ("::lstat is_directory", "of our own spool, which somebody may remove"),
    "trace/recording/parquet_file.cc": ("::access", "/proc/self/fd"),
    "analysis/application/comparison.cc": (
        "File::open is_directory",
        "a profile.json, which the caller names; no more of it than a profile may have",
    ),
    "analysis/import/": ("", "files of other formats, which the caller names"),
    "analysis/insights/insights.cc": ("read_file list_dir", "rules, which the caller names"),
    "analysis/insights/standing_rules.cc": ("is_directory", "rules of this user"),
}


def allowed(name: str, word: str) -> bool:
    for place, (words, _) in MAY.items():
        if name == place:
            return word in words.split()
        if place.endswith("/") and name.startswith(place):
            return True
    return False


def words_in(line: str) -> Iterator[str]:
    code = TEXT.sub('""', line).split("//")[0]
    if code.lstrip().startswith("#include"):
        return
    for found in BY_PATH.finditer(code):
        yield found[1] or f"::{found[2]}"


def problems(src: Path) -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((src / room).rglob("*")):
            name = path.relative_to(src).as_posix()
            if path.suffix not in {".cc", ".h"} or NOT_OURS.search(name):
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                for word in words_in(line):
                    if not allowed(name, word):
                        yield f"{name}:{number}: {word} opens by a path; files of a recording go by base/directory.h"


def main(arguments: List[str]) -> int:
    src = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent / "src"
    found = list(problems(src))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that layers are asked for what they are, not for their names.

What a layer is stands in the table of layers (src/trace/rows/layers.h) and in that of the in-process sources
(src/wire/sources.h): is_io(layer), and `layer IN @io` in SQL, are right for the next layer, too. A name is right
where one particular layer is meant. ALLOWED has these, with a reason for each. What counts as a name: one that a
layer is compared with or asked for by, a constant, and a list of nothing but names of layers.
usage: tools/check_layer_names.py [ROOT]
"""

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Iterator, List, NamedTuple, Set, Tuple


class Allowed(NamedTuple):
    path: str  # a pattern of fnmatch
    layers: str  # separated by blanks
    reason: str


ALLOWED: List[Allowed] = [
    Allowed(
        "src/analysis/application/function_uses.cc",
        "app python",
        "instants that programs annotate; loops are named so by Python alone",
    ),
    Allowed(
        "src/analysis/application/picture.cc",
        "python resource",
        "loops are named so by Python alone; counters of the machine",
    ),
    Allowed("src/analysis/application/usage.cc", "resource", "counters of CPU and memory"),
    Allowed(
        "src/analysis/canvas/byte_tellers.cc",
        "cuda",
        "a driver's calls ask for what a device does: both have the bytes of it",
    ),
    Allowed("src/analysis/check/meter.cc", "resource", "counters, which the library in a program does not record"),
    Allowed("src/analysis/compare/counter_sums.cc", "cpu resource", "how the counters of each of the two are added up"),
    Allowed("src/analysis/import/call_names.cc", "posix", "the names of its calls, by category"),
    Allowed("src/analysis/import/chrome_event.cc", "gpu kernel", "the word that another format has for a layer"),
    Allowed("src/analysis/import/chrome_rows.cc", "stdio", "calls of stdio lie around those of posix"),
    Allowed("src/analysis/import/pfw_facts.cc", "stdio", "calls of stdio lie around those of posix"),
    Allowed("src/analysis/import/pfw_rows.cc", "app", "DFTracer puts all regions into it"),
    Allowed(
        "src/analysis/import/tau_lines.cc",
        "cuda heap posix stdio syscall",
        "TAU writes layers as groups, these among them",
    ),
    Allowed("src/analysis/import/text_recording.cc", "stdio", "calls of stdio lie around those of posix"),
    Allowed("src/analysis/insights/rule_views.cc", "resource", "the counter of a busy machine"),
    Allowed(
        "src/analysis/insights/rules/*.sql",
        "app cpu cuda posix resource sched stdio",
        "a rule is about calls or counters of one layer, which it names",
    ),
    Allowed(
        "src/analysis/layer_sql.cc",
        "heap posix syscall",
        "the words of SQL are made here, some of them from single layers",
    ),
    Allowed("src/analysis/live/live_sums.cc", "resource", "counters of processes"),
    Allowed(
        "src/analysis/live/packed_sums.cc",
        "app user",
        "counters that programs tell; probes are recorded from outside, and are no layer of the kernel",
    ),
    Allowed(
        "src/analysis/moved_view.cc", "posix stdio", "bytes of stdio are those of posix below it, where there are any"
    ),
    Allowed("src/analysis/views/cuda.cc", "cuda", "the view of this layer"),
    Allowed(
        "src/analysis/views/explain.cc",
        "block cuda pagecache syscall vfs",
        "what lies between two layers, in words; requests have a queue and a device",
    ),
    Allowed("src/analysis/views/gpu_memory.cc", "cuda", "memory is counted by its calls"),
    Allowed("src/analysis/views/loops.cc", "python", "loops of Python"),
    Allowed("src/analysis/views/ranks.cc", "resource syscall", "counters of CPU; calls that have no file"),
    Allowed("src/analysis/views/resources.cc", "resource", "the view of this layer"),
    Allowed("src/analysis/waits_sql.cc", "cuda", "the calls of a driver wait for its device"),
    Allowed(
        "src/analysis/walk/gpu_idle_pass.cc",
        "cuda python",
        "calls that start work on a device; frames of Python without a name",
    ),
    Allowed("src/analysis/walk/idle_sweep.cc", "cuda python", "what a device waits for, in words"),
    Allowed("src/analysis/walk/training_pass.cc", "app", "names of regions that frameworks give"),
    Allowed("src/analysis/walk/tree_pass.cc", "app", "rounds are told by the names of regions"),
    Allowed("src/cli/datacrumbs_door.cc", "block fs pagecache syscall user vfs", "what DataCrumbs records"),
    Allowed(
        "src/cli/run_summary.cc",
        "gpu posix user",
        "remarks about one layer; posix is in every program that the library is in",
    ),
    Allowed("src/cli/top/activity_page.cc", "syscall", "calls a second of the kernel"),
    Allowed("src/containers/dftracer_log.cc", "app posix stdio", "what DFTracer records"),
    Allowed("src/containers/local_run.cc", "python", "its source needs variables and files of its own in the program"),
    Allowed("src/containers/private_mount.cc", "python", "a folder's name"),
    Allowed("src/containers/profile_run.cc", "resource", "a run that is measured alone has no other"),
    Allowed(
        "src/containers/recorder.cc",
        "cuda gpu python",
        "their sources need variables of their own in the program",
    ),
    Allowed("src/convert/store_stream.cc", "cuda", "its calls name kernels, which are mangled"),
    Allowed("src/render/export/alnair_log.cc", "cuda", "Alnair has calls of the driver alone"),
    Allowed(
        "src/render/export/datacrumbs_export.cc",
        "kernel pagecache syscall user",
        "DataCrumbs has other words for layers",
    ),
    Allowed("src/render/export/dftracer_log.cc", "app posix stdio", "DFTracer has other words for layers"),
    Allowed("src/render/export/dftracer_settings.cc", "app", "DFTracer filters no regions"),
    Allowed("src/render/export/pfw_export.cc", "app posix stdio", "DFTracer has other words for layers"),
    Allowed("src/render/export/stdio_items.h", "stdio", "sizes of items, as fread() has them"),
    Allowed("src/render/export/tau_export.cc", "app python", "TAU has other words for layers"),
    Allowed("src/render/export/waggle_export.cc", "app resource", "marks of loops; counters of the machine"),
    Allowed("src/render/profile_pages.cc", "app", "a container's name"),
    Allowed("src/session/attach/attach.h", "cpu resource", "what fathom attach records where nobody names a layer"),
    Allowed("src/session/kernel_options.cc", "kernel user", "each has functions of its own to be named"),
    Allowed("src/session/run/prepared.cc", "app cuda python", "options of these three: --region-events, Alnair's logs"),
    Allowed("src/session/watch/watch_config.cc", "syscall", "system calls need no probes"),
    Allowed("src/session/watch/watch_plan.cc", "kernel user", "each has functions of its own to be named"),
    Allowed(
        "src/sources/*",
        "block fs heap kernel net pagecache sched syscall user vfs",
        "a source says which layers it records",
    ),
    Allowed(
        "src/trace/recording/unseen.cc",
        "pagecache stdio syscall",
        "stdio has buffers: its bytes are not those of the kernel; what two layers of the kernel see is seen",
    ),
    Allowed("python/dfanalyzer/main.py", "posix stdio", "what DFAnalyzer shows; SQL of users has no word for I/O"),
    Allowed(
        "python/fathom/notebook.py",
        "app posix python stdio",
        "what it records where nobody says otherwise; cells are regions, and what they define is of module __main__",
    ),
    Allowed("web/src/logic/flame_empty.ts", "cpu posix stdio", "how each weight of a flame graph is recorded"),
    Allowed("web/src/logic/gpu.ts", "cuda gpu", "places of the view of these layers"),
    Allowed("web/src/views/compare/compare.tsx", "cpu", "samples are of this layer"),
    Allowed("web/src/views/flame/settings.ts", "cpu", "samples are of this layer"),
    Allowed("web/src/views/gpu/gpu.tsx", "cuda gpu", "the view of these layers"),
]

FOLDERS = ("src", "python", "web/src", "include")
SUFFIXES = {".cc", ".c", ".h", ".hpp", ".sql", ".py", ".ts", ".tsx"}
OF_TESTS = re.compile(r"(_(test|bench|fuzz)\.\w+|\.test\.tsx?)$|(^|/)(tests|testing)/")

TABLES = {
    "src/wire/sources.h": re.compile(r'\bROW\(\d+,\s*\w+,\s*\w+,\s*"(\w+)"'),
    "src/trace/rows/layers.h": re.compile(r'\blayer_def\(\s*"(\w+)"'),
}

COMPARED = (
    re.compile(r"""\blayer\)*\s*[!=]==?\s*("\w+")"""),  # C++, Python, TypeScript
    re.compile(r"""("\w+")\s*[!=]==?\s*[\w.>()-]*\blayer\b"""),
    re.compile(r"""("\w+"),\s*&[\w:]*::layer\b"""),  # std::ranges::find(rows, "posix", &Row::layer)
    re.compile(r"""\blayer\s*(?:=|!=|<>)\s*('\w+')"""),  # SQL
    re.compile(r"""\blayer\s+(?:NOT\s+)?IN\s*\(([^()]*)\)""", re.IGNORECASE),
)


# Those of words that may mean other things, by what stands around them.
ASKED = (
    re.compile(r"""\b(?:has|is_recorded|layer|leave_out|state_of)\((?:[\w.>()-]+,\s*)?("\w+")"""),
    re.compile(r"""\blayers\s*[:=]\s*[{[]\s*("\w+")\s*[}\]]"""),
    re.compile(
        r"""\bconstexpr\s+(?:std::string_view|char|const char\*(?: const)?)\s+k\w+(?:\[\])?\s*=\s*("\w+")\s*;"""
    ),
)
ASKED_IN_PAGE = (re.compile(r"""\bname\s*[!=]==?\s*("\w+")"""),)
# Lists count where each of their words is a layer.
LISTS = (
    re.compile(r"""[{[](\s*"\w+"(?:\s*,\s*"\w+")+\s*,?\s*)[}\]]"""),
    re.compile(r"""\[(\s*'\w+'(?:\s*,\s*'\w+')+\s*)\]"""),  # of SQL
    re.compile(r"""("\w+\??(?:,\w+\??)+")"""),  # of --layers
)


def layers_of(root: Path) -> Set[str]:
    return {name for file, row in TABLES.items() for name in row.findall((root / file).read_text())}


def comparisons(text: str, layers: Set[str], of_page: bool) -> Iterator[Tuple[int, str]]:
    """Lines, and names of layers that something is compared with, asked for or listed by there."""
    for pattern in (*COMPARED, *ASKED, *(ASKED_IN_PAGE if of_page else ()), *LISTS):
        for found in pattern.finditer(text):
            names = re.findall(r"""(?<=["',])(\w+)(?=["',?])""", found[1])
            if pattern in LISTS and not layers.issuperset(names):
                continue
            for name in names:
                if name in layers:
                    yield text.count("\n", 0, found.start()) + 1, name


def files_of(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and not OF_TESTS.search(path.relative_to(root).as_posix()):
                yield path


def problems(root: Path, allowed: List[Allowed]) -> Iterator[str]:
    layers = layers_of(root)
    used: Set[Tuple[Allowed, str]] = set()
    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        if name in TABLES:
            continue
        entries = [entry for entry in allowed if fnmatchcase(name, entry.path)]
        for line, layer in comparisons(path.read_text(errors="replace"), layers, name.startswith("web/")):
            meant = [entry for entry in entries if layer in entry.layers.split()]
            used.update((entry, layer) for entry in meant)
            if not meant:
                yield (
                    f"{name}:{line}: means layer '{layer}' by its name; ask what it is (trace/rows/layers.h, "
                    "`@io` in analysis/layer_sql.h), or say in tools/check_layer_names.py why it is this one"
                )
    for entry in allowed:
        for layer in entry.layers.split():
            if (entry, layer) not in used:
                yield f"tools/check_layer_names.py: {entry.path} does not name '{layer}' any more"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    found = list(problems(root, ALLOWED))
    for problem in found:
        print(problem)
    print(f"check_layer_names: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Every public name of DFTracer's packages is one of ours. dftracer_names.txt has them, as PyPI's packages have."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set

from kit import Failure, Skip, expect, ran
from test_dftracer import lines_of, run_program, settings

HERE = Path(__file__).resolve().parent
Names = Dict[str, Set[str]]  # of a module; `Class.member` among them

PACKAGES = ("dftracer", "dftracer_dbg", "pydftracer", "pydftracer_dbg", "dfanalyzer")
RELEASES = ("pydftracer==1.0.6", "pydftracer==2.0.6", "dftracer==2.2.0")
NATIVE = ("pydftracer", "pydftracer_dbg", "dftracer.dftracer", "dftracer.dftracer_dbg")
# What only its own modules use of each other, or what stands for a module of somebody else's.
OWN = {
    "dfanalyzer.main": {"create_index", "get_linenumber", "get_size", "generate_line_batches", "load_objects"}
    | {"load_indexed_gzip_files", "io_function", "io_columns", "group_func", "union_portions", "difference_portion"}
    | {"size_portion", "percentile", "median_fun", "human_format", "human_format_count", "human_format_time"}
    | {"parse_args", "print_versions"},
    "dfanalyzer.plots": {"TIME_COLS", "GrepIOPlots"},
    "dftracer.dynamo": {"add_enhanced_timing_to_graph", "record_time_start", "record_time_end"},
    "dftracer.python.dynamo": {"torch", "make_boxed_func", "aot_autograd"},
}

# Modules that say what to use instead.
GONE = ("dfanalyzer.graph",)
# Modules that have all names of others, too.
STARS = {
    "dftracer.logger": ("dftracer.logger.logger", "dftracer.logger.ai"),
    "dftracer.python.ai_common": ("dftracer.python.common", "dftracer.python.env"),
    "dftracer.python.ai": ("dftracer.python.ai_common", "dftracer.python.ai_init"),
    "dftracer.python.logger": ("dftracer.python.common", "dftracer.python.env"),
    "dftracer.python": ("dftracer.python.ai", "dftracer.python.dynamo", "dftracer.python.logger"),
    "dftracer.dbg.logger": ("dftracer.logger",),
    "dftracer.python.dbg": ("dftracer.python",),
    "dftracer.python.dbg.ai": ("dftracer.python.ai",),
    "dftracer.python.dbg.logger": ("dftracer.python.logger",),
    "dftracer.python.torch": ("dftracer.python.torch.common",),
    "dftracer.python.torch.profiler": ("dftracer.python.torch.common",),
    "dftracer.python.dbg.torch": ("dftracer.python.torch.common",),
}


def noted() -> Names:
    """What stands in dftracer_names.txt: a module, then its names."""
    found: Names = {}
    for line in (HERE / "dftracer_names.txt").read_text().splitlines():
        words = line.split()
        if words and not line.startswith("#"):
            found.setdefault(words[0].rstrip(":"), set()).update(words[1:])
    for module, others in STARS.items():
        found[module] = found[module].union(*(found[other] for other in others))
    return found


def has(module: Any, name: str) -> bool:
    for part in name.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def missing() -> List[str]:
    found = []
    for module, names in noted().items():
        try:
            ours = importlib.import_module(module)
        except ImportError as error:
            found.append(f"{module}: {error}")
            continue
        found += [f"{module}.{name}" for name in sorted(names) if not has(ours, name)]
    return found


def test_names_are_all_there(root: Path) -> None:
    expect("missing", [], missing())
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_dftracer_names as t; print(t.missing())"
    folders = [str(HERE), str(HERE.parent / "formats"), str(HERE.parent)]
    variables = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(root / "log")}
    expect("missing where it records", "[]\n", ran(sys.executable, "-B", "-c", code, *folders, env=variables))


# What the tests of pydftracer look at: it is the same whether something is recorded or not.
LOOKS = """
from dftracer.python import *
def calls():
    fn = dft_fn("cat")
    assert (fn._cat, fn._name, fn._enable, fn._flush) == ("cat", "calls", True, False)
calls()
assert dft_fn("cat", enable=False)._enable is False
assert isinstance(ai, AI) and isinstance(ai.data.io, IO) and isinstance(compute, Compute)
assert str(ProfileCategory.COMM) == ProfileCategory.COMM == "comm" and f"{IOEvent.READ}" == "read"
assert (ai.other.log.name, ai.data.io.open.name, compute.forward.name) == ("other.log", "data.io.open", "forward")
assert get_iter_block_name("fetch") == get_iter_block_name("fetch.block") == "fetch.block"
assert compute.init is compute.derive("init") and compute.profiler._name == compute.profiler._cat == "compute"
compute.update(epoch=5, image_size=224, args={"rate": 0.5, "kind": "adam", "tag": TagValue(7, TagDType.INT)})
seen = (compute.profiler._arguments_int, compute.profiler._arguments_float, compute.profiler._arguments_string)
told = ({"epoch": (0, 5), "tag": (0, 7)}, {"image_size": (0, 224.0), "rate": (0, 0.5)}, {"kind": (0, "adam")})
assert seen == (told if DFTRACER_ENABLE else ({}, {}, {})), seen
assert compute.forward.profiler._arguments_int == seen[0]
compute.profiler._arguments = {}
assert (compute.profiler._arguments_int, compute.profiler._arguments_string) == ({}, {})
log = dftracer.get_instance()
log.mark_used("part")
assert log.declare_entity("type", "key") == 0 and dft_fn("x").uses("type", "key") == 0
print(DFTRACER_ENABLE)
"""


def test_attributes_are_those_that_its_tests_look_at(root: Path) -> None:
    for on in ("0", "1"):
        variables = {"DFTRACER_ENABLE": on, "DFTRACER_LOG_FILE": str(root / "log")}
        expect("attributes", f"{on == '1'}\n", ran(sys.executable, "-c", LOOKS, env=variables))


def test_facts_about_a_program_are_kept(root: Path) -> None:
    code = """
from dftracer.python import dftracer
log = dftracer.initialize_log()
log.set_app_metadata_int("ranks", 8)
log.set_app_metadata_string("model", "unet3d")
log.finalize()
"""
    ran(sys.executable, "-c", code, env=settings(root))
    (file,) = root.glob("log-*-app.pfw.gz")
    args = [line.get("args", {}) for line in lines_of(file)]
    told = {one["name"]: one.get("value") for one in args if one.get("name") in ("ranks", "model")}
    expect("facts", {"ranks": "8", "model": "unet3d"}, {name: str(value) for name, value in told.items()})


def test_dfanalyzer_sums_up(root: Path) -> None:
    run_program(root, "2", INC_METADATA="1")
    code = "import sys; from dfanalyzer.main import DFAnalyzer; DFAnalyzer(sys.argv[1]).summary()"
    said = ran(sys.executable, "-c", code, root / "log-*.pfw.gz").splitlines()
    lines = {line.strip() for line in said}
    expect("words", set(), {"Processes: 1", "I/O Behavior"} - lines)
    counts = [line.split()[:3] for line in said if line.split()[:1] in (["pread"], ["write"])]
    expect("calls", [["pread", "5", "10"], ["write", "5", "100"]], counts)


def test_what_is_gone_says_what_to_use(root: Path) -> None:
    for module in GONE:
        try:
            importlib.import_module(module)
        except ImportError as error:
            expect("a command", True, "fathom report" in str(error))
        else:
            raise Failure(f"{module} is there")


# --- the same of the packages on PyPI


def targets_of(node: ast.stmt) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]:
        for part in getattr(target, "elts", [target]):
            if isinstance(part, ast.Name):
                yield part.id


def defined(body: List[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{name}" for name in defined([n for n in node.body if not annotates(n)]))
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield from targets_of(node)
        for part in ("body", "orelse", "handlers") if isinstance(node, (ast.If, ast.Try)) else ():
            for inner in getattr(node, part, []):
                yield from defined(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def annotates(node: ast.stmt) -> bool:
    """A field of a record or an attribute that instances have."""
    return isinstance(node, ast.AnnAssign) and node.value is None


def public(names: Iterator[str]) -> Set[str]:
    return {name for name in names if not any(part.startswith("_") for part in name.split("."))}


def offered(module: str, names: Set[str]) -> Set[str]:
    return {name for name in names if name.split(".")[0] not in OWN.get(module, ())}


def names_below(folder: Path) -> Names:
    found: Names = {}
    for package in PACKAGES:
        for path in sorted((folder / package).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if not module.startswith(GONE) and (not parts[-1].startswith("_") or parts[-1] == "__init__"):
                found[module] = offered(module, public(defined(ast.parse(path.read_text()).body)))
    return found


def native_names(python: Path) -> Names:
    code = "import importlib, sys; print(*[n for n in dir(importlib.import_module(sys.argv[1])) if n[0] != '_'])"
    found: Names = {}
    for module in NATIVE:
        done = subprocess.run([python, "-I", "-c", code, module], capture_output=True, text=True, check=False)
        found[module] = set(done.stdout.split())
    return found


def of_pypi(root: Path) -> Names:
    """The union over releases: each is installed alone."""
    found: Names = {}
    for number, release in enumerate(RELEASES):
        place = root / str(number)
        ran(sys.executable, "-m", "venv", place)
        pip = [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", release]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skip(f"{release} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
        (packages,) = place.glob("lib/python3*/site-packages")
        for names in (names_below(packages), native_names(place / "bin" / "python")):
            for module in names:
                found.setdefault(module, set()).update(names[module])
    return found


def test_names_of_pypi_are_noted(root: Path) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("it fetches DFTracer's packages; tests/run --full does it")
    known = noted()
    lacking = {
        m: sorted(names - known.get(m, set())) for m, names in of_pypi(root).items() if names - known.get(m, set())
    }
    if lacking:
        raise Failure(f"dftracer_names.txt lacks {lacking}")

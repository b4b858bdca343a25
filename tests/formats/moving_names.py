# SPDX-License-Identifier: MIT
"""`fathom moving` shows docs/moving.md, and what that page says of layers, tables, libraries and variables is so."""

import json
import os
import re
import subprocess
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set, Tuple

from kit import BUILD, FATHOM, TOP, Failure, expect, ran
from moving_page import PAGE, SPAN, Row, code, table_rows

TOOLS = ("DFTracer", "DataCrumbs", "Alnair", "profiling-framework", "Waggle application profiler")
IDLE = TOP / "src" / "sources" / "dftracer" / "settings.guest.cc"


def answer_of(*words: str, columns: int = 0) -> Tuple[int, str, str]:
    env = {**os.environ, **({"COLUMNS": str(columns)} if columns else {})}
    done = subprocess.run([str(FATHOM), "moving", *words], capture_output=True, text=True, env=env, check=False)
    return done.returncode, done.stdout, done.stderr


def rows_of(*words: str) -> List[Dict[str, Any]]:
    found: List[Dict[str, Any]] = json.loads(ran(FATHOM, "moving", *words, "--format", "json"))
    return found


@lru_cache(maxsize=None)
def section(title: str, level: str = "##") -> str:
    """The page from a heading to the next of its level, or of a higher one."""
    begin = PAGE.read_text().split(f"\n{level} {title}\n")[1]
    return re.split(r"\n#{2," + str(len(level)) + "} ", begin)[0]


def page_rows(title: str) -> List[Row]:
    """Of a section's tables, without their heads and rules."""
    text = re.sub(r"\|[^\n]*\n\|---[^\n]*\n", "", section(title))
    return table_rows(text)


def plain(cell: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("`", "")


def test_moving_the_command_has_every_row_of_the_page(root: Path) -> None:
    for tool in TOOLS:
        wanted = [[plain(row.old), plain(row.ours)] for row in page_rows(tool)]
        if len(wanted) < 15:
            raise Failure(f"only {len(wanted)} rows of {tool} were found in the page")
        expect(f"rows of {tool}", wanted, [[row["old"], row["fathom"]] for row in rows_of(tool)])
    listed = {row["tool"]: row["rows"] for row in rows_of()}
    expect("tools", [len(page_rows(tool)) for tool in TOOLS], [listed.get(tool) for tool in TOOLS])
    expect("other tools", len(page_rows("Other tools")), sum(listed.values()) - sum(listed[tool] for tool in TOOLS))


def test_moving_the_command_finds_names(root: Path) -> None:
    for name, tool, part in (
        ("DFTRACER_TIME_METRIC", "DFTracer", "the same"),
        ("dftracer_service", "DFTracer", "fathom collect"),
        ("ai.comm.all_reduce", "DFTracer", "the same"),
        ("trace_log_dir", "DataCrumbs", "--pfw"),
        ("metrics.log", "Alnair", "the same"),
        ("SHOW_JOB_INFO", "profiling-framework", "fathom job info"),
        ("ltimes.csv", "Waggle application profiler", "loops"),
        ("perf stat", "perf", "fathom stat"),
    ):
        found = [row for row in rows_of(name) if row["tool"] == tool and part in row["fathom"]]
        if not found:
            raise Failure(f"fathom moving {name}: {rows_of(name)}")
    expect("one name of a row", "DFTRACER_C_FINI", rows_of("DFTRACER_C_FINI")[0]["old"])


def test_moving_the_command_says_what_is_near(root: Path) -> None:
    status, out, err = answer_of("DFTRACER_TIME_METRICS")
    expect("an unknown name", (2, ""), (status, out))
    if "did you mean DFTRACER_TIME_METRIC " not in err:
        raise Failure(f"no name that is near: {err}")
    status, _, err = answer_of("xyzzy_plugh")
    expect("nothing near", (2, True), (status, "'fathom moving' lists the tools" in err))
    status, _, err = answer_of("--trace_log_dir")
    expect("a flag", (2, True), (status, "fathom moving trace_log_dir" in err))


def test_moving_lines_keep_within_the_terminal(root: Path) -> None:
    for words in ((), ("datacrumbs",)):
        status, out, _ = answer_of(*words, columns=60)
        long = [line for line in out.splitlines() if len(line) > 60 and " " in line.strip()]
        expect(f"lines that are too long: {words}", (0, []), (status, long))


def names_after(words: str) -> Set[str]:
    """The names that follow such words in the right column: "layers `a`, `b` and `c`"."""
    many = r"((?:`[\w-]+`(?:, | and )?)+)"
    cells = [row.ours for row in table_rows(PAGE.read_text())]
    return {
        name for cell in cells for list_ in re.findall(rf"\b(?:{words}) {many}", cell) for name in SPAN.findall(list_)
    }


def test_moving_layers_exist(root: Path) -> None:
    known = {row["layer"] for row in json.loads(ran(FATHOM, "doctor", "--format", "json"))["layers"]}
    named = names_after("layer|layers")
    if len(named) < 8:
        raise Failure(f"only {named} were found in the page")
    expect("layers that do not exist", set(), named - known)


def test_moving_tables_and_columns_exist(root: Path) -> None:
    trace = root / "small.fathom"
    ran(FATHOM, "import", TOP / "tests" / "golden" / "small.txt", "-o", trace)
    cells = [row.ours for row in table_rows(PAGE.read_text())]
    pattern = r"columns ((?:`[^`]+`(?:, | and )?)+) of `(\w+)`"
    wanted = [(SPAN.findall(columns), table) for cell in cells for columns, table in re.findall(pattern, cell)]
    if len(wanted) < 4:
        raise Failure(f"only {wanted} were found in the page")
    wanted += [(["*"], table) for table in names_after("table|tables|view|rows of")]
    parts = []
    for names, table in wanted:
        columns = ", ".join(f'"{name}"' if name.isidentifier() else name for name in names)
        parts.append(f"(SELECT count(*) FROM (SELECT {columns} FROM {table}))")
    ran(FATHOM, "sql", trace, "SELECT " + ", ".join(parts))


def our_spans(pattern: str) -> Set[str]:
    spans = [span for row in table_rows(PAGE.read_text()) for span in SPAN.findall(row.ours)]
    return {name for span in spans for name in re.findall(pattern, span)}


def test_moving_libraries_headers_and_pages_exist(root: Path) -> None:
    libraries = our_spans(r"\blib(?:fathom|dftracer|datacrumbs|pfinterpose)\w*\.so\b")
    expect("libraries", set(), {name for name in libraries if not (BUILD / name).exists()})
    headers = our_spans(r"<([\w./]+\.h(?:pp)?)>")
    expect("headers", set(), {name for name in headers if not (TOP / "include" / name).exists()})
    links = re.findall(r"\[([^\]]+)\]\(([^)#]+)[^)]*\)", "\n".join(row.ours for row in table_rows(PAGE.read_text())))
    expect("links whose text a terminal could not follow", [], [one for one in links if one[0] != one[1]])
    if not libraries or not headers or not links:
        raise Failure("the page names no library, header or page")


def settings_keys() -> Set[str]:
    return set(re.findall(r"^ +--([a-z-]+)", ran(FATHOM, "watch", "--help"), re.MULTILINE))


def test_moving_keys_of_settings_exist(root: Path) -> None:
    named = our_spans(r"^([a-z-]+): ")
    if len(named) < 3:
        raise Failure(f"only {named} were found in the page")
    expect("settings that `fathom watch` does not have", set(), named - settings_keys())


def test_moving_variables_without_effect_are_those_that_stderr_names(root: Path) -> None:
    rows = table_rows(section("Variables", "###"))
    named = {"same": set(), "idle": set()}
    for row in rows:
        kind = "same" if row.ours.startswith("the same") else "idle"
        named[kind] |= set(re.findall(r"DFTRACER_[A-Z_]+", row.old))
    text = IDLE.read_text()
    idle = set(re.findall(r'"(DFTRACER_\w+)"', text.split("kIdle[][")[1].split("};")[0]))
    read = set(re.findall(r'"(DFTRACER_\w+)"', text)) - idle
    expect("variables that work", sorted(read), sorted(named["same"]))
    expect("variables without effect", sorted(idle), sorted(named["idle"]))


def public_names() -> Iterator[Tuple[str, ...]]:
    """Of DFTracer's packages on PyPI, in parts: ("ComputeEvent", "FORWARD")."""
    for line in (TOP / "tests" / "python" / "dftracer_names.txt").read_text().splitlines():
        if not line.startswith("#"):
            yield from (tuple(name.split(".")) for name in line.partition(":")[2].split())


def test_moving_page_has_every_public_name_of_dftracer(root: Path) -> None:
    known = set(re.findall(r"\w+", section("DFTracer")))
    names = {name for name in public_names() if len(name[-1]) > 1}  # the others are type variables
    if len(names) < 150:
        raise Failure(f"only {len(names)} names were found")
    # Members of enumerations stand for themselves in the row of their class.
    missing = {name for name in names if name[-1] not in known and not (name[-1].isupper() and name[0] in known)}
    expect("names without a row", set(), missing)


def names_of_tools() -> Dict[str, List[str]]:
    """Flags, variables, files and functions of the five tools, by the heading of their section."""
    lines = (Path(__file__).parent / "names_of_tools.txt").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("# "))
    parts = (part.partition("\n") for part in text.split("\n== ")[1:])
    return {title: names.split() for title, _, names in parts}


def has_name(name: str, spans: List[str], text: str) -> bool:
    """`DFT_REL_*` on the page has every name that begins so."""
    if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
        return True
    return any("*" in span and " " not in span and fnmatchcase(name, span) for span in spans)


def test_moving_page_has_every_name_of_the_five_tools(root: Path) -> None:
    lists = names_of_tools()
    expect("tools with a list", sorted(TOOLS), sorted(lists))
    for tool, names in lists.items():
        if len(names) < 70:
            raise Failure(f"only {len(names)} names of {tool} were found")
        # The left column alone: that we mention a name elsewhere helps nobody who looks for it.
        spans = [span for row in page_rows(tool) for span in SPAN.findall(row.old)]
        text = "\n".join(spans)
        expect(f"names of {tool} without a row", [], [name for name in names if not has_name(name, spans, text)])


def test_a_name_without_a_row_is_noticed(root: Path) -> None:
    spans = ["dftracer_split --verify-all", "DFT_REL_*"]
    names = ("dftracer_split", "--verify", "DFT_REL_USED", "split")
    expect("names", [True, False, True, False], [has_name(name, spans, "\n".join(spans)) for name in names])


def missing_names() -> Iterator[str]:
    for row in table_rows(PAGE.read_text()):
        if row.ours.startswith("not yet"):
            yield from (span for span in SPAN.findall(row.old) if re.fullmatch(r"[A-Za-z_][\w-]+", span))


def test_moving_what_is_not_there_yet_is_not_there(root: Path) -> None:
    names = set(missing_names())
    if len(names) < 40:
        raise Failure(f"only {len(names)} names were found in the page")
    declared = set(re.findall(r"(?:#define |\b)([A-Za-z_]\w+)\(", code("include")))
    programs = {path.name for path in BUILD.iterdir()}
    expect("names that are there", set(), names & (declared | programs | settings_keys()))

# SPDX-License-Identifier: MIT
"""docs/moving.md against the program: what it tells people to type, set or call exists. So do README.md's commands."""

import re
import shlex
from functools import lru_cache
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Set

from kit import FATHOM, TOP, Failure, expect, ran

PAGE = TOP / "docs" / "moving.md"
SPAN = re.compile(r"`([^`]+)`")
FLAG = re.compile(r"--?[a-z][a-z-]*")


class Row(NamedTuple):
    old: str  # how other tools name it
    ours: str  # what is not there is "not yet", and named by no command


def table_rows(text: str) -> List[Row]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [Row(row[-2], row[-1]) for row in cells]


def example_lines(text: str) -> List[str]:
    return [
        line.split("#")[0] for block in re.findall(r"```\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]


@lru_cache(maxsize=None)
def help_of(*command: str) -> str:
    return ran(FATHOM, *command, "--help")


@lru_cache(maxsize=None)
def command_names() -> Set[str]:
    return set(re.findall(r"^  ([a-z]+)  ", help_of(), re.MULTILINE))


def flags_of(command: str) -> Set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", help_of(command)))


def wrong_words(line: str) -> Iterator[str]:
    """What of a command line `fathom …` the program does not know."""
    words = shlex.split(line[line.index("fathom ") :])
    command = words[1]
    if command not in command_names():
        yield f"fathom {command}"
        return
    ours = words[2 : words.index("--")] if "--" in words else words[2:]
    for word in ours:
        if FLAG.fullmatch(word) and word not in flags_of(command):
            yield f"fathom {command} {word}"
    if "--format" in ours:
        value = ours[ours.index("--format") + 1]
        if not re.search(rf"\b{re.escape(value)}\b", help_of(command)):
            yield f"fathom {command} --format {value}"


def is_command(span: str) -> bool:
    return re.match(r"(?:\w+ )?fathom [a-z]", span) is not None


def command_lines(text: str) -> List[str]:
    spans = [span for row in table_rows(text) for span in SPAN.findall(row.ours)]
    return [span for span in [*spans, *example_lines(text)] if is_command(span)]


def test_moving_page_names_commands_and_options_that_exist(root: Path) -> None:
    lines = [*command_lines(PAGE.read_text()), *command_lines((TOP / "README.md").read_text())]
    if len(lines) < 80:
        raise Failure(f"only {len(lines)} commands were found in the pages")
    expect("commands and options that do not exist", [], [word for line in lines for word in wrong_words(line)])


def test_moving_page_names_options_alone_that_exist(root: Path) -> None:
    spans = [span for row in table_rows(PAGE.read_text()) for span in SPAN.findall(row.ours)]
    named = {span.split()[0] for span in spans if re.match("--[a-z]", span)}  # `-- CMD` is none
    known = {flag for command in command_names() for flag in flags_of(command)}
    expect("options that no command has", set(), named - known)


def test_moving_page_names_views_that_exist(root: Path) -> None:
    trace = root / "small.fathom"
    ran(FATHOM, "import", TOP / "tests" / "golden" / "small.txt", "-o", trace)
    lines = command_lines(PAGE.read_text())
    views = {match[1] for line in lines if (match := re.match(r"fathom report NAME ([a-z-]+)", line))}
    if len(views) < 10:
        raise Failure(f"only {sorted(views)} were found in the page")
    for view in sorted(views):
        ran(FATHOM, "report", trace, view, "--format", "json")


@lru_cache(maxsize=None)
def code(*folders: str) -> str:
    """Our own code, tests left out: what it does not mention is not read by it."""
    paths = [path for folder in folders for path in sorted((TOP / folder).rglob("*")) if path.is_file()]
    texts = [path.read_text(errors="replace") for path in paths if "_test." not in path.name]
    return "\n".join(texts)


def our_names(pattern: str) -> Set[str]:
    spans = [span for row in table_rows(PAGE.read_text()) for span in SPAN.findall(row.ours)]
    return {name for span in spans for name in re.findall(pattern, span)}


def test_moving_page_names_variables_macros_and_functions_that_exist(root: Path) -> None:
    variables = our_names(r"\bFATHOM_[A-Z_]+\b(?!\()")
    unread = {name for name in variables if f'"{name}' not in code("src", "python")}
    expect("variables that nothing reads", set(), unread)
    macros = our_names(r"\bFATHOM_[A-Z_]+(?=\()")
    expect("macros", set(), {name for name in macros if f"#define {name}(" not in code("include/fathom")})
    functions = our_names(r"\bfathom_[a-z_]+")
    expect("functions", set(), {name for name in functions if f" {name}(" not in code("include/fathom")})
    package = TOP / "python" / "fathom"
    attributes = {name for name in our_names(r"\bfathom\.([a-z_]+)\b") if not (package / f"{name}.py").exists()}
    told = (package / "__init__.py").read_text()
    expect("names of Python", set(), {name for name in attributes if f'"{name}"' not in told})
    if min(len(names) for names in (variables, macros, functions, attributes)) == 0:
        raise Failure("the page names no variable, macro, function or name of Python")


def words_that_stay(row: Row) -> Iterator[str]:
    for span in SPAN.findall(row.old):
        yield from re.findall(r"\bDFTRACER_[A-Z_]+\b", span)
        if re.fullmatch(r"@?[A-Za-z_][\w.]*", span):
            parts = span.lstrip("@").split(".")
            yield parts[0] if parts[-1] in ("so", "log") else parts[-1]


def test_moving_page_says_the_same_of_what_we_have(root: Path) -> None:
    ours = code("include", "python", "src/sources", "src/render", "src/session", "src/cli", "cmake")
    known = {*re.findall(r"\w+", ours), *(path.name for path in (TOP / "python").iterdir())}
    same = [row for row in table_rows(PAGE.read_text()) if row.ours.startswith("the same")]
    words: Dict[str, None] = {word: None for row in same for word in words_that_stay(row)}
    if len(words) < 80:
        raise Failure(f"only {len(words)} names were found in the page")
    expect("names that our code does not have", [], [word for word in words if word not in known])


def test_mistakes_of_a_page_are_noticed(root: Path) -> None:
    cell = "`fathom run --no-such -- ls --color`, `fathom nothing`; `fathom export A --format nope -o B`"
    text = f"| a | b |\n| x | {cell} |\n"
    found = [word for line in command_lines(text) for word in wrong_words(line)]
    expect("mistakes", ["fathom run --no-such", "fathom nothing", "fathom export --format nope"], found)

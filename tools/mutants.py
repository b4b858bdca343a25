# SPDX-License-Identifier: MIT
"""Where C++ can be broken: one small change of one line each, by rules that need no compiler.

Only code is looked at. Comments, texts, preprocessor lines and asserts are left alone: no test should have to notice
them. The rules rely on the layout of clang-format: ` < ` compares, `vector<int>` does not.
"""

import re
from dataclasses import dataclass
from typing import Iterator, List, Optional, Tuple

# A rule: what it is called, what it looks for, what it puts there.
Rule = Tuple[str, str, str]

FLIPS = (("==", "!="), ("!=", "=="), ("<", ">="), (">", "<="), ("<=", ">"), (">=", "<"))
EDGES = (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"))
SWAPS = (("logic", "&&", "||"), ("logic", "||", "&&"), ("arithmetic", "+", "-"), ("arithmetic", "-", "+"))
SWAPS += (("arithmetic", "*", "/"), ("arithmetic", "+=", "-="), ("arithmetic", "-=", "+="))
RETURNS = (("true", "false"), ("false", "true"), ("0", "1"), ("1", "0"))

RULES: Tuple[Rule, ...] = (
    *(("comparison", rf" {re.escape(old)} ", f" {new} ") for old, new in FLIPS),
    *(("boundary", rf" {re.escape(old)} ", f" {new} ") for old, new in EDGES),
    *((name, rf'(?<!") {re.escape(old)} (?!")', f" {new} ") for name, old, new in SWAPS),
    *(("return", rf"\breturn {old};", f"return {new};") for old, new in RETURNS),
    ("not", r"(?<![\w)])!(?=[\w(:*])", ""),
    ("jump", r"\b(continue|break|return);", ";"),
)

# Lines that declare, or that only speak to people.
LEFT_ALONE = re.compile(
    r"^\s*(#|using\b|namespace\b|template\b|friend\b|typedef\b|extern\b|case\b|default:)"
    r"|\b(static_assert|assert|requires|operator|fprintf|perror|abort)\b|= (default|delete|0);"
)
COMPARISON = re.compile(r" (==|!=|<|>|<=|>=) ")
CALLEE = r"(?:::)?[\w.:>\[\]-]+"
CALL = re.compile(rf"^\s*(?:\(void\))?(?!return\b|if\b|for\b|while\b|switch\b){CALLEE}\(.*\);$")
ASSIGNMENT = re.compile(r"^\s*\*?[\w.:>\[\]()-]+ [|&^]?= .*;$")
LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


@dataclass(frozen=True)
class Mutant:
    file: str  # from the repository's root
    line: int  # from 1
    column: int
    rule: str
    before: str  # the whole line
    after: str


def blank(match: "re.Match[str]") -> str:
    """As long as before, its quotes and line breaks in place."""
    text = match.group()
    inside = re.sub(r"[^\n]", " ", text)
    if text[0] == "/":
        return inside
    return text[0] + inside[1:-1] + text[-1]


def code_of(text: str) -> str:
    """The text with comments and what stands in quotes blanked: columns are those of the text."""
    return LITERAL.sub(blank, text)


def matching(line: str, at: int) -> Optional[int]:
    """Where the parenthesis that opens at `at` is closed, if that is in this line."""
    depth = 0
    for index in range(at, len(line)):
        depth += {"(": 1, ")": -1}.get(line[index], 0)
        if depth == 0:
            return index
    return None


def negations(line: str) -> Iterator[Tuple[int, int, str, str]]:
    """Conditions of `if` that no other rule turns round: no comparison, no `!` in front, no declaration."""
    for found in re.finditer(r"\bif \(", line):
        begin, end = found.end(), matching(line, found.end() - 1)
        if end is None:
            continue
        begin += line[begin:end].rfind(";") + 1
        begin += len(line[begin:end]) - len(line[begin:end].lstrip())
        condition = line[begin:end]
        if not COMPARISON.search(condition) and condition[:1] != "!" and " = " not in condition:
            yield begin, end, "condition", "!({})"


def dropped(line: str, last: str) -> Optional[str]:
    """`call` or `assignment` if the line is one such statement, and begins where `last` has ended one."""
    if last and last[-1] not in ";{}:)":
        return None
    if CALL.match(line) and balanced(line):
        return "call"
    return "assignment" if ASSIGNMENT.match(line) and balanced(line) else None


def balanced(line: str) -> bool:
    return all(line.count(left) == line.count(right) for left, right in ("()", "{}", "[]"))


def edits(line: str, last: str) -> Iterator[Tuple[int, int, str, str]]:
    """Begin, end, rule and what comes there instead; `{}` in it stands for what was there."""
    for rule, pattern, new in RULES:
        for found in re.finditer(pattern, line):
            yield found.start(), found.end(), rule, new
    yield from negations(line)
    rule = dropped(line, last)
    if rule:
        yield len(line) - len(line.lstrip()), len(line), rule, ";"


def mutants_of(file: str, text: str) -> List[Mutant]:
    found: List[Mutant] = []
    last = ""
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n")), 1):
        code = code.rstrip()
        if not LEFT_ALONE.search(code):
            for begin, end, rule, new in sorted(edits(code, last)):
                after = line[:begin] + new.replace("{}", line[begin:end]) + line[end:]
                found.append(Mutant(file, number, begin, rule, line, after))
        last = code.strip() or last
    return found


def broken(text: str, mutant: Mutant) -> str:
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.after
    return "\n".join(lines)

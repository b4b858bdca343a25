# SPDX-License-Identifier: MIT
"""Links of the documents: every relative one leads to a file of the repository, and its anchor to a heading."""

import re
from pathlib import Path
from typing import Iterator, List, Set, Tuple

from kit import TOP, expect

LINK = re.compile(
    r"\[[^\]]*\]\(([^)\s]+)\)|<(?:img|source)[^>]*\s(?:src|srcset)=\"([^\"]+)\"|<a[^>]*\shref=\"([^\"]+)\""
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def documents() -> List[Path]:
    return [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]


def links_of(text: str) -> Iterator[str]:
    for groups in LINK.findall(CODE.sub("", text)):
        target = next(group for group in groups if group)
        if not ELSEWHERE.match(target):
            yield target


def anchors_of(text: str) -> Set[str]:
    """Headings as the usual hosts name them: lower case, blanks as hyphens, other marks left out. And marks of rows."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    names = {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}
    return names | set(re.findall(r'<a id="([\w-]+)"></a>', text))


def broken(document: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if not path.exists() or (path != TOP and TOP not in path.parents):
        return True
    return bool(anchor) and path.suffix == ".md" and anchor not in anchors_of(path.read_text())


def broken_links(document: Path) -> List[Tuple[str, str]]:
    name = str(document.relative_to(TOP))
    return [(name, target) for target in links_of(document.read_text()) if broken(document, target)]


def test_links_of_documents_lead_somewhere(root: Path) -> None:
    expect("broken links", [], [link for document in documents() for link in broken_links(document)])


def test_broken_links_are_noticed(root: Path) -> None:
    text = '[a](no-such.md) [b](README.md#no-such-heading) [c](https://example.org/x) `[d](gone)` <img src="gone.png">'
    found = [target for target in links_of(text) if broken(TOP / "CONTRIBUTING.md", target)]
    expect("broken links of a text", ["no-such.md", "README.md#no-such-heading", "gone.png"], found)

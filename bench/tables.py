# SPDX-License-Identifier: MIT
"""Lines of cells as text or Markdown; the first line is the head."""

from __future__ import annotations


def markdown(lines: list[list[str]]) -> str:
    rule = ["---"] * len(lines[0])
    return "\n".join(f"| {' | '.join(cell or '-' for cell in line)} |" for line in [lines[0], rule, *lines[1:]])


def text(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([texts[0], "-" * len(texts[0]), *texts[1:]])

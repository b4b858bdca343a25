# SPDX-License-Identifier: MIT
"""Many questions to a recording in one `fathom sql`: opening a recording costs far more than answering does."""

from collections.abc import Sequence
from typing import Any


def together(questions: Sequence[str]) -> str:
    """One question for all of them; its only row holds the rows of each."""
    columns = (f"(SELECT list(answer) FROM ({sql}) AS answer) AS q{number}" for number, sql in enumerate(questions))
    return f"SELECT {', '.join(columns)}"


def apart(row: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """That row, as the rows of each question."""
    return [answer or [] for answer in row.values()]

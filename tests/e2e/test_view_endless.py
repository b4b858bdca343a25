# SPDX-License-Identifier: MIT
"""Questions that nobody can end: some functions of SQL never look up from their work."""

import signal

from kit import Box, check, check_true
from test_view import QUERY, View, viewing

# 9e10 steps inside one call of a function.
ENDLESS = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))"


def test_view_answers_beside_a_question_without_end(box: Box) -> None:
    """Its client is told at the limit, others are answered, and the view ends when it is told to."""
    box.record("true")
    with viewing(box, "--timeout", "1s", box.trace) as view:
        refused = view.ask("POST", QUERY, {"sql": ENDLESS}, status=408)
        check_true(f"what to do: {refused.body!r}", b"--timeout" in refused.body)
        check("another question", [[1]], view.rows("SELECT 1"))


def test_view_does_not_collect_questions_without_end(box: Box) -> None:
    """After some of them nobody may ask any more, and is told why."""
    box.record("true")
    with viewing(box, "--timeout", "1s", box.trace) as view:
        for _ in range(4):
            view.ask("POST", QUERY, {"sql": ENDLESS}, status=408)
        refused = view.ask("POST", QUERY, {"sql": "SELECT 1"}, status=503)
        check_true(f"why: {refused.body!r}", b"cannot be ended" in refused.body)
        view.ask("GET", "/api/v1/page")


def test_view_ends_at_once_when_told_twice(box: Box) -> None:
    box.record("true")
    view = View(box, "--timeout", "1s", box.trace)
    view.ask("POST", QUERY, {"sql": ENDLESS}, status=408)
    view.process.send_signal(signal.SIGINT)
    view.process.send_signal(signal.SIGTERM)
    box.finish(view.process, None)
    check_true(f"status {view.process.returncode}", view.process.returncode in (0, -signal.SIGINT, -signal.SIGTERM))

# SPDX-License-Identifier: MIT
"""Questions that nobody can end: some functions of SQL never look up from their work."""

import json
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kit import Box, check, check_true
from test_view import QUERY, Answer, View, viewing

# 9e10 steps inside one call of a function.
ENDLESS = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))"


LARGEST = 4  # number of them that are let be


def endless(view: View) -> Answer:
    headers = {"Authorization": f"Bearer {view.token}"}
    return view.bare("POST", QUERY, json.dumps({"sql": ENDLESS}), **headers)


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
        # Where others need the CPUs, a question may come to its end before it is where nobody can end it.
        statuses = []
        for _ in range(4 * LARGEST):
            statuses.append(endless(view).status)
            if statuses[-1] != 408:
                break
        check(f"the last of {statuses}", 503, statuses[-1])
        check_true(f"some were taken: {statuses}", len(statuses) > LARGEST)
        refused = view.ask("POST", QUERY, {"sql": "SELECT 1"}, status=503)
        check_true(f"why: {refused.body!r}", b"cannot be stopped" in refused.body)
        view.ask("GET", "/api/v1/page")


def test_view_ends_at_once_when_told_twice(box: Box) -> None:
    box.record("true")
    view = View(box, "--timeout", "1s", box.trace)
    view.ask("POST", QUERY, {"sql": ENDLESS}, status=408)
    view.process.send_signal(signal.SIGINT)
    view.process.send_signal(signal.SIGTERM)
    box.finish(view.process, None)
    check_true(f"status {view.process.returncode}", view.process.returncode in (0, -signal.SIGINT, -signal.SIGTERM))


def test_view_keeps_to_its_memory(box: Box) -> None:
    """Also where a function of SQL takes all of it in one call, and while others ask the same."""
    limit = 500 << 20
    hungry = ["SELECT list_sum(range(400000000))", "SELECT length(repeat('a', 1000000000))"]
    box.record("true")
    with viewing(box, "--memory", "500MiB", box.trace) as view, ThreadPoolExecutor(4) as pool:
        headers = {"Authorization": f"Bearer {view.token}"}
        asked = [pool.submit(view.bare, "POST", QUERY, json.dumps({"sql": sql}), **headers) for sql in hungry * 4]
        statuses = [each.result().status for each in asked]
        check_true(f"all end: {statuses}", set(statuses) <= {200, 413, 503})
        check_true(f"some are refused: {statuses}", 413 in statuses)
        status = Path(f"/proc/{view.process.pid}/status").read_text()
        most = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) << 10
        check_true(f"its memory: {most}", most < 4 * limit)
        one = '{"sql": "SELECT 1"}'
        box.wait_for("it answers again", lambda: view.bare("POST", QUERY, one, **headers).status == 200, 60)

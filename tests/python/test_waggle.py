# SPDX-License-Identifier: MIT
"""Live metrics as Waggle's users have them: rows of `counters`, Prometheus' text, and messages to a collector."""

import json
import re
import socket
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from kit import FATHOM, Failure, answers, expect, ran
from test_annotations import pythons

PROGRAM = """
import json, socket, sys, threading, urllib.request
from fathom.waggle import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, SageAppMetricsServer

collector = socket.socket(socket.AF_UNIX)
collector.bind(sys.argv[1])
collector.listen()
got = []
def collect():
    with collector.accept()[0] as line:
        while data := line.recv(65536):
            got.append(data)
thread = threading.Thread(target=collect)
thread.start()

kinds = {"fps": METRIC_RATE, "latency": METRIC_TIMER, "boats": METRIC_NUMBER}
metrics = SageAppMetricsServer(kinds, sys.argv[1], port=0)
for number in (3, 4, 5):
    metrics.push_metric("boats", number)
    metrics.start_timer("latency")
    metrics.stop_timer("latency")
    metrics.push_metric("fps")
metrics.stop_timer("latency")  # was not started
for wrong in (lambda: metrics.push_metric("ships", 1), lambda: metrics.start_timer("boats"),
              lambda: metrics.push_metric("boats", float("nan")), lambda: SageAppMetricsServer({"a b": METRIC_RATE}),
              lambda: SageAppMetricsServer({"a": "b"})):
    try:
        wrong()
    except (KeyError, ValueError):
        continue
    raise SystemExit("this should not have worked")
with urllib.request.urlopen(f"http://127.0.0.1:{metrics.port}/metrics") as answer:
    text = answer.read().decode()
assert "# TYPE app0_boats_value gauge\\napp0_boats_value 5.0\\n" in text, text
assert "app0_latency_value " in text and "app0_boats_timestamp " in text, text
metrics.close()
thread.join()
messages = [json.loads(part) for part in b"".join(got).decode().split("\\n\\n") if part]
assert metrics.dropped == 0
boats = [message["boats"]["value"] for message in messages if "boats" in message]
assert boats == [3, 4, 5] and sum("latency" in message for message in messages) == 3, messages
silent = SageAppMetricsServer({"boats": METRIC_NUMBER}, sys.argv[1] + ".none")
silent.push_metric("boats", 1)
assert silent.dropped == 1
"""


def test_metrics_are_counters(root: Path) -> None:
    program = root / "app.py"
    program.write_text(PROGRAM)
    version, python = next(iter(pythons().items()))
    trace = root / "metrics.fathom"
    ran(FATHOM, "run", "-q", "-o", trace, "--layers", "app", "--", python, program, root / "socket")
    sql = "SELECT name, list(value ORDER BY ts) AS got, count(*) AS n FROM counters WHERE layer = 'app' GROUP BY 1"
    rows = {row["name"]: row for row in answers(trace, sql)[0]}
    expect(f"Python {version}: values", [3, 4, 5, 1], rows["boats"]["got"])
    expect("of a timer and a rate", (3, 2), (rows["latency"]["n"], rows["fps"]["n"]))
    expect("a time is not negative", True, min(rows["latency"]["got"]) >= 0)


LIVE = """
import time
from fathom.waggle import METRIC_NUMBER, METRIC_TIMER, SageAppMetricsServer

metrics = SageAppMetricsServer({"boats": METRIC_NUMBER, "latency": METRIC_TIMER})
for number in range(60):
    metrics.start_timer("latency")
    time.sleep(0.1)
    metrics.stop_timer("latency")
    metrics.push_metric("boats", number)
"""


def live_value(port: int, name: str, least: float) -> float:
    """Of a counter of the application, as soon as it is more than that."""
    until = time.monotonic() + 60
    text = ""
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        found = re.search(f'^fathom_app_counter{{.*name="{name}"}} (.*)$', text, re.MULTILINE)
        if found and float(found[1]) > least:
            return float(found[1])
        time.sleep(0.2)
    raise Failure(f"no value of {name} above {least} in {text[-500:]}")


def test_metrics_are_live(root: Path) -> None:
    """`container run --metrics` has what the program pushed, while it runs: no port of its own is needed."""
    (root / "app.py").write_text(LIVE)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    python = next(iter(pythons().values()))
    spec = {"command": [python, str(root / "app.py")], "runs": ["probed"], "layers": "app", "metrics": port}
    (root / "app.yaml").write_text(json.dumps(spec))
    command = (FATHOM, "container", "run", "-q", "-o", root / "live", root / "app.yaml")
    with subprocess.Popen(list(map(str, command))) as process:
        first = live_value(port, "boats", -1)
        expect("a later one is larger", True, live_value(port, "boats", first) > first)
        expect("a timer's seconds", True, 0.1 <= live_value(port, "latency", 0) < 60)
        expect("status", 0, process.wait(60))

# SPDX-License-Identifier: MIT
"""Live metrics of an application, as users of Waggle's profiler have them: the same names, the same calls.

>>> from fathom.waggle import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, SageAppMetricsServer
>>> metrics = SageAppMetricsServer({"fps": METRIC_RATE, "latency": METRIC_TIMER, "boats": METRIC_NUMBER}, port=9100)
>>> metrics.start_timer("latency")
>>> metrics.stop_timer("latency")
>>> metrics.push_metric("boats", 3)

Each value becomes a row of `counters` of the recording, where there is one. With a port, the last values are served as
Prometheus reads them at http://127.0.0.1:PORT/metrics while the program runs. With a path, they go to the collector
that listens on that Unix socket; what it does not take at once is dropped and counted.
"""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Mapping

from fathom.annotate import counter

__all__ = ["METRIC_NUMBER", "METRIC_RATE", "METRIC_TIMER", "SageAppMetricsServer"]

METRIC_RATE = "rate"  # each push_metric is one more: how many there were in a second
METRIC_TIMER = "timer"  # seconds from start_timer to stop_timer
METRIC_NUMBER = "number"  # the value itself
_KINDS = (METRIC_RATE, METRIC_TIMER, METRIC_NUMBER)
_SEND_S = 0.01


class SageAppMetricsServer:
    """Metrics by their names, for any thread. Closing is not needed: everything ends with the program."""

    def __init__(
        self,
        metrics: Mapping[str, str],
        socket_path: str | None = None,
        *,
        port: int | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        for name, kind in metrics.items():
            if not name.isidentifier():
                raise ValueError(f"the name of a metric is made of letters, digits and _, not {name!r}")
            if kind not in _KINDS:
                raise ValueError(f"metric {name}: a kind is METRIC_RATE, METRIC_TIMER or METRIC_NUMBER, not {kind!r}")
        self.dropped = 0  # values that the collector did not take
        self._kinds = dict(metrics)
        self._lock = threading.Lock()
        self._values: dict[str, tuple[float, float]] = {}  # value and time
        self._started: dict[tuple[str, int], float] = {}  # timers, of each thread
        self._last: dict[str, float] = {}  # of rates
        self._socket_path = socket_path
        self._socket: socket.socket | None = None
        self._http = _serve(self, address, port) if port is not None else None

    @property
    def port(self) -> int | None:
        """Where the metrics are served: the port that was given, or with 0 the one that was free."""
        return None if self._http is None else int(self._http.server_address[1])

    def start_timer(self, name: str) -> None:
        self._check(name, METRIC_TIMER)
        with self._lock:
            self._started[name, threading.get_ident()] = time.monotonic()

    def stop_timer(self, name: str) -> None:
        """A timer that this thread did not start says nothing."""
        now = time.monotonic()
        self._check(name, METRIC_TIMER)
        with self._lock:
            begin = self._started.pop((name, threading.get_ident()), None)
        if begin is not None:
            self._tell(name, now - begin)

    def push_metric(self, name: str, value: float = 1) -> None:
        """The value; of a rate, that something happened `value` times."""
        kind = self._check(name)
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"metric {name}: {value!r} is no number")
        if kind != METRIC_RATE:
            self._tell(name, number)
            return
        now = time.monotonic()
        with self._lock:
            before = self._last.get(name)
            self._last[name] = now
        if before is not None and now > before:
            self._tell(name, number / (now - before))

    def text(self) -> str:
        """The last values in Prometheus' text format."""
        with self._lock:
            values = sorted(self._values.items())
        lines = []
        for name, (value, when) in values:
            lines += [f"# TYPE app0_{name}_value gauge", f"app0_{name}_value {value!r}"]
            lines += [f"# TYPE app0_{name}_timestamp gauge", f"app0_{name}_timestamp {when!r}"]
        return "".join(line + "\n" for line in lines)

    def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            http.shutdown()
            http.server_close()
        with self._lock:
            self._disconnect()

    def _check(self, name: str, wanted: str | None = None) -> str:
        kind = self._kinds.get(name)
        if kind is None:
            raise KeyError(f"there is no metric {name!r}; there are {', '.join(sorted(self._kinds)) or 'none'}")
        if wanted is not None and kind != wanted:
            raise ValueError(f"metric {name} is no timer")
        return kind

    def _tell(self, name: str, value: float) -> None:
        counter(name, value)
        when = time.time()
        with self._lock:
            self._values[name] = (value, when)
            if self._socket_path is not None:
                self._send({name: {"value": value, "timestamp": when}})

    def _send(self, message: dict[str, Any]) -> None:
        """As Waggle's collector reads it: JSON, then an empty line. The application never waits for it."""
        try:
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self._socket.settimeout(_SEND_S)
                self._socket.connect(self._socket_path)
            self._socket.sendall(json.dumps(message).encode() + b"\n\n")
        except OSError:
            self.dropped += 1
            self._disconnect()

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _serve(metrics: SageAppMetricsServer, address: str, port: int) -> ThreadingHTTPServer:
    class Answer(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self) -> None:
            found = self.path.split("?")[0] == "/metrics"
            body = metrics.text().encode() if found else b"only /metrics is here\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed into the application's output."""

    server = ThreadingHTTPServer((address, port), Answer)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True, name="fathom-metrics").start()
    return server

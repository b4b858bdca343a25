# SPDX-License-Identifier: MIT
"""What `--metrics` serves while a run goes on, as a client sees it."""

import contextlib
import socket
import urllib.error
import urllib.request

from kit import Box


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def ask(port: int, host: str = "") -> tuple[int, str]:
    """Status and text; 0 where nobody answers."""
    question = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(question, timeout=20) as answer:
            return int(answer.status), answer.read().decode()
    except urllib.error.HTTPError as error:
        with contextlib.closing(error):
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def values(text: str) -> dict[str, float]:
    """By the series, as it is written."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {series: float(value) for series, value in lines}


def wait_for(box: Box, port: int, what: str, least: float = 0) -> dict[str, float]:
    """The page, as soon as a series is in it with more than `least`."""
    found: dict[str, float] = {}

    def is_there() -> bool:
        found.clear()
        found.update(values(ask(port)[1]))
        return any(value > least for series, value in found.items() if series.startswith(what))

    box.wait_for(f"{what} above {least}", is_there)
    return found

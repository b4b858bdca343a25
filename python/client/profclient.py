# SPDX-License-Identifier: MIT
"""profiling-framework's ProfClient, with Fathom's server behind it.

    class MyClient(ProfClient):
        def run_on_job(self, sock):
            self.send_data(sock, [{"command": self.SEND_PERF_DATA, "message": line, "port": 2001} for line in lines])

    MyClient("localhost", 10000).run()

What is sent counts when `send_data` returns; where it cannot be stored, an exception says why. The program `fathom`
does the sending: it reads the lines of perf, and finds the token of a server that the same user runs.
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterable, Mapping

Message = Mapping[str, Any]


class ProfClientError(RuntimeError):
    """What was to be sent is not stored; the text says why."""


class Connection:
    """Stands where profiling-framework had a socket: what `run_on_job` gets, and hands to `send_data`."""

    def __init__(self, server: str) -> None:
        self.server = server

    def close(self) -> None:
        """Nothing is open between two calls of `send_data`."""


class ProfClient:
    SEND_PERF_DATA = 1
    SEND_BENCHMARK_DATA = 2
    CREATE_JOB = 3
    REMOVE_JOB = 4
    SHOW_ALL_JOB = 5
    SHOW_JOB_INFO = 6
    SHOW_JOB_BENCHMARK = 7
    SHOW_JOB_PROFILING = 8
    CLEAR_JOB_BENCHMARK = 9

    def __init__(self, bindaddr: str, port: int) -> None:
        self.bindaddr = bindaddr
        self.port = port

    def run_on_job(self, *sock: Connection) -> Iterable[Message] | None:
        """To be overridden, with or without `sock`. A list of messages that it returns is sent."""
        raise NotImplementedError("derive a class from ProfClient and give it run_on_job()")

    def run(self) -> None:
        connection = Connection(_url(self.bindaddr, self.port))
        takes_socket = bool(inspect.signature(self.run_on_job).parameters)
        messages = self.run_on_job(connection) if takes_socket else self.run_on_job()
        self.send_data(connection, messages or [])

    def send_data(self, sock: Connection | None, cmdlist: Iterable[Message]) -> None:
        """Stores all messages, in their order, before it returns. Lines of perf that follow each other go together."""
        server = (sock or Connection(_url(self.bindaddr, self.port))).server
        lines: list[str] = []
        job = ""
        for message in cmdlist:
            if lines and (message["command"] != self.SEND_PERF_DATA or str(message["port"]) != job):
                _send_lines(server, job, lines)
                lines = []
            if message["command"] == self.SEND_PERF_DATA:
                job = str(message["port"])
                lines.append(message["message"])
            else:
                self._send_other(server, message)
        if lines:
            _send_lines(server, job, lines)

    def _send_other(self, server: str, message: Message) -> None:
        command = message["command"]
        if command == self.SEND_BENCHMARK_DATA:
            record = message["message"]
            text = record if isinstance(record, str) else json.dumps(record)
            _fathom(server, ["job", "import", str(message["port"]), "-"], " ".join(text.splitlines()) + "\n")
            return
        words = self._job_words(command, str(message.get("jobid", "")), message)
        told = _fathom(server, words)
        if told:
            print(told, end="")

    def _job_words(self, command: int, job: str, message: Message) -> list[str]:
        actions = {
            self.CREATE_JOB: ["create", job, "--info", str(message.get("info", ""))],
            self.REMOVE_JOB: ["remove", job, "--yes"],
            self.SHOW_ALL_JOB: ["list"],
            self.SHOW_JOB_INFO: ["info", job],
            self.SHOW_JOB_BENCHMARK: ["show", job, "--benchmarks", "--file", str(message.get("file", ""))],
            self.SHOW_JOB_PROFILING: ["show", job, "--profile", "--file", str(message.get("file", ""))],
            self.CLEAR_JOB_BENCHMARK: ["clear", job],
        }
        if command not in actions:
            raise ProfClientError(f"there is no command {command!r}")
        return ["job", *actions[command]]


def _url(address: str, port: int) -> str:
    """Beyond this machine a server has TLS."""
    if address.startswith(("http://", "https://")):
        return f"{address}:{port}"
    host = "127.0.0.1" if address == "localhost" else address
    here = host.startswith("127.") or host == "::1"
    return f"{'http' if here else 'https'}://{f'[{host}]' if ':' in host else host}:{port}"


def _send_lines(server: str, job: str, lines: list[str]) -> None:
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    _fathom(server, ["agent", "profile", "--job", job, "--stdin", "--no-outbox"], text)


def _program() -> str:
    """Beside an installed package, in the tree's build, or on PATH."""
    tree = Path(__file__).resolve().parent.parent.parent
    named = os.environ.get("FATHOM_BUILD")
    places = [Path(named)] if named else [tree / "lib", tree / "build"]
    found = [str(place / "fathom") for place in places]
    path = next((one for one in found if os.access(one, os.X_OK)), None) or shutil.which("fathom")
    if not path:
        raise ProfClientError("there is no program fathom; install it, or name its folder in FATHOM_BUILD")
    return path


def _fathom(server: str, words: list[str], text: str = "") -> str:
    command = [_program(), *words, "--server", server]
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise ProfClientError(done.stderr.strip() or f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout

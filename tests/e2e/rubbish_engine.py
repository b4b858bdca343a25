# SPDX-License-Identifier: MIT
"""Stands in for an engine that misbehaves: proper answers up to one request, and then whatever the test wants."""

import contextlib
import json
import os
import re
import socket
import threading
import time
from pathlib import Path

ID = "a" * 64
IMAGE = {"Id": "sha256:" + "b" * 64, "Config": {"Cmd": ["x"], "Env": ["A=b"]}}


def answer(body: object, status: int = 200) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n%b" % (status, len(data), data)


def proper(line: str) -> bytes:
    known = {
        "/version": answer({"ApiVersion": "1.41", "MinAPIVersion": "1.12"}),
        "/images/": answer(IMAGE),
        "/containers/json": answer([]),
        "/containers/create": answer({"Id": ID}, 201),
        "/attach": b"HTTP/1.1 200 OK\r\n\r\n",
        "/wait": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    }
    return next((known[part] for part in known if part in line), b"HTTP/1.1 204 No Content\r\n\r\n")


class RubbishEngine:
    """`stage`: a part of the request line that is answered by `mode`."""

    def __init__(self, path: Path, mode: str, stage: str) -> None:
        self.mode, self.stage = mode, stage
        self.seen: list[str] = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(50)
        self.env = {"DOCKER_HOST": f"unix://{path}"}
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(line,), daemon=True).start()

    def serve(self, line: socket.socket) -> None:
        with contextlib.suppress(OSError), line:
            while head := read_request(line):
                self.seen.append(head)
                if self.stage not in head:
                    line.sendall(proper(head))
                elif not self.misbehave(line):
                    return

    def misbehave(self, line: socket.socket) -> bool:
        """False: this connection is over."""
        if self.mode == "silent":
            time.sleep(3600)
        if self.mode == "drips":
            line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                line.sendall(b" ")
                time.sleep(0.5)
        if self.mode == "endless":
            line.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                line.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        if self.mode == "no":
            line.sendall(answer({"message": "no\x1b[31m\nno"}, 500))
            return True
        if self.mode == "noise":
            line.sendall(os.urandom(3000))
        if self.mode == "deep":
            line.sendall(answer(b"[" * 5_000_000))
            return True
        return False


def read_request(line: socket.socket) -> str:
    """The first line of it; "": nobody asks any more."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = line.recv(65536)
        if not piece:
            return ""
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    size = re.search(rb"content-length: (\d+)", head.lower())
    while size and len(body) < int(size[1]):
        body += line.recv(65536)
    return head.split(b"\r\n")[0].decode()

# SPDX-License-Identifier: MIT
"""`fathom server` as its users and its enemies meet it: started, asked, misused, stopped, killed."""

import contextlib
import gzip
import http.client
import json
import os
import random
import re
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kit import Box, Failure, Process, Skipped, check, check_true

JOBS = "/api/v1/jobs"
HOST = "127.0.0.1"
TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


class Server:
    """A server of this test alone, with a home of its own, and a token that may do everything."""

    def __init__(self, box: Box, *options: str, port: int = 0) -> None:
        self.box, self.options = box, options
        self.data, self.home = box.root / "data", box.root / "home"
        self.home.mkdir(exist_ok=True)
        self.env = {"HOME": str(self.home), "XDG_RUNTIME_DIR": "", "XDG_DATA_HOME": ""}
        if "server" not in box.fathom("--help").decode():
            raise Skipped("built without the fleet")
        self.start(port)
        self.token = (self.data / "admin.token").read_text().strip()

    def start(self, port: int = 0) -> None:
        command = [self.box.kit.fathom, "server", "--listen", f"{HOST}:{port}", "--data", self.data, *self.options]
        self.process: Process = self.box.start(*command, env=self.env)
        line = self.process.stdout.readline().decode() if self.process.stdout else ""
        found = re.fullmatch(r"ready (https?)://\S+:(\d+)\n", line)
        if not found:
            raise Failure(f"first line {line!r}, stderr {self.box.finish(self.process, None)[1]!r}")
        self.scheme, self.port = found[1], int(found[2])

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        check("what it says at its end", (b"", b""), self.box.finish(self.process))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def fathom(self, *arguments: object, status: int = 0) -> bytes:
        return self.box.finish(self.box.start(self.box.kit.fathom, *arguments, env=self.env), status)[0]

    def connect(self) -> http.client.HTTPConnection:
        if self.scheme == "https":
            anybody = ssl.create_default_context()
            anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection(HOST, self.port, timeout=60, context=anybody)
        return http.client.HTTPConnection(HOST, self.port, timeout=60)

    def call(
        self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
    ) -> tuple[int, Any]:
        """Status and JSON of an answer; its text where it is none."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        told["Authorization"] = f"Bearer {self.token if token is None else token}"
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, content, told)
            answer = connection.getresponse()
            text = answer.read()
            if answer.getheader("Content-Encoding") == "gzip":
                text = gzip.decompress(text)
            is_json = (answer.getheader("Content-Type") or "").startswith("application/json")
            return answer.status, json.loads(text) if is_json else text.decode()

    def told(self, method: str, path: str, body: Any = None, status: int = 200, **how: str) -> Any:
        got, answer = self.call(method, path, body, **how)
        check(f"status of {method} {path} ({str(answer)[:200]})", status, got)
        return answer

    def profile(self, job: str) -> dict[str, int]:
        return {row["node"]: row["count"] for row in self.told("GET", f"{JOBS}/{job}/profile")["rows"]}

    def raw(self, request: bytes, seconds: float = 30) -> bytes:
        """Everything that comes back until the server closes."""
        got = b""
        with socket.create_connection((HOST, self.port), seconds) as connection, contextlib.suppress(OSError):
            connection.sendall(request)
            while part := connection.recv(65536):
                got += part
        return got


@contextlib.contextmanager
def serving(box: Box, *options: str) -> Iterator[Server]:
    """A server with a job, which has to end well."""
    server = Server(box, *options)
    server.told("POST", JOBS, {"name": "job", "info": "x"}, 201)
    yield server
    check("state of the server", None, server.process.poll())
    server.stop()


def batch(client: str, seq: int, **counts: int) -> dict[str, Any]:
    rows = [{"node": node, "exec": "a", "event": "e", "count": count} for node, count in counts.items()]
    return {"client": client, "seq": seq, "rows": rows}


def test_server_starts_and_ends(box: Box) -> None:
    """Ready, asked by a command without a flag, stopped by either signal; its traces of a life are gone afterwards."""
    server = Server(box)
    note = server.home / ".config" / "fathom" / "server.json"
    secrets = [note, server.data / "tokens", server.data / "admin.token"]
    check("modes", ["0o600"] * 3, [oct(path.stat().st_mode & 0o777) for path in secrets])
    server.fathom("job", "create", "mine")
    check("jobs", ["mine"], [job["name"] for job in server.told("GET", JOBS)["jobs"]])
    with socket.create_connection((HOST, server.port)):  # a silent client delays nothing
        server.stop(signal.SIGINT)
    check_true("the note is gone", not note.exists())
    server.start(server.port)
    check("jobs", ["mine"], [job["name"] for job in server.told("GET", JOBS)["jobs"]])
    server.kill()
    check_true("the note of a killed server", note.exists())
    check("jobs without a server", b"[]", server.fathom("job", "list", "--format", "json").strip())


def test_server_tokens(box: Box) -> None:
    """Tokens come, work at once, and go; the file holds none of them; a stranger learns nothing."""
    with serving(box) as server:
        data = ("--data", server.data)
        reader = server.fathom("server", "token", "add", "dashboard", "--role", "read", *data).decode().strip()
        check(
            "a reader",
            (200, 403),
            (server.call("GET", JOBS, token=reader)[0], server.call("POST", JOBS, {}, reader)[0]),
        )
        check_true("no token in the file", reader not in (server.data / "tokens").read_text())
        listed = json.loads(server.fathom("server", "token", "list", *data, "--format", "json"))
        check("tokens", {"admin": "admin", "dashboard": "read"}, {row["name"]: row["role"] for row in listed})
        server.fathom("server", "token", "remove", "dashboard", *data)
        check("a removed one", 401, server.call("GET", JOBS, token=reader)[0])
        answers = [server.call("GET", f"{JOBS}/{job}", token="x" * 64) for job in ("job", "ghost")]
        check("what a stranger is told", answers[0], answers[1])
        check("healthz", (200, {"status": "ok"}), server.call("GET", "/healthz", token=""))


def test_server_tls(box: Box) -> None:
    """Encrypted, still without a flag; the certificate stays the same; old versions and plain HTTP are not spoken."""
    with serving(box, "--self-signed") as server:
        check("scheme", "https", server.scheme)
        server.fathom("job", "create", "sealed")
        check_true("plain HTTP", b" 200 " not in server.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
        old = ssl.create_default_context()
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with contextlib.suppress(ValueError):
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        try:
            with socket.create_connection((HOST, server.port), 30) as plain, old.wrap_socket(plain):
                raise Failure("TLS 1.1 was spoken")
        except OSError:
            pass
    first = (server.data / "server.crt").read_text()
    server.start(server.port)
    check("the certificate", first, (server.data / "server.crt").read_text())
    server.stop()


def test_server_usage(box: Box) -> None:
    """What cannot be is refused in one line, and leaves nothing behind."""
    cases: list[tuple[int, str, list[object]]] = [
        (2, "--self-signed", ["--listen", "0.0.0.0:0"]),
        (2, "--listen", ["--listen", "127.0.0.1"]),
        (2, "paper", ["--store", "paper:x"]),
        (2, "king", ["token", "add", "x", "--role", "king"]),
        (2, "dance", ["token", "dance"]),
        (2, "--cert", ["--cert", "x"]),
    ]
    for status, word, options in cases:
        process = box.start(
            box.kit.fathom, "server", *options, "--data", box.root / "none", env={"HOME": str(box.root)}
        )
        out, err = box.finish(process, status)
        check_true(f"{word} in {err!r}", out == b"" and err.count(b"\n") == 1 and word.encode() in err)
        check_true(f"nothing is left of {word}", not (box.root / "none").exists())


def test_server_answers_as_described(box: Box) -> None:
    """Every call of the description is asked, rightly and wrongly: no status and no field that it does not know."""
    with serving(box) as server:
        description = server.told("GET", "/openapi.json")
        record = {"command": ["x"], "host": "h", "runs": [{"exit": 0, "wall": 1.5}]}
        kind = {"name": "loss", "schema": {"type": "object", "required": ["step"]}}
        bodies: dict[str, Any] = {
            f"{JOBS}": {"name": "other"},
            f"{JOBS}/{{job}}/profile": batch("c", 1, f=5),
            f"{JOBS}/{{job}}/benchmarks": {"client": "c", "seq": 1, "records": [record]},
            f"{JOBS}/{{job}}/records/{{kind}}": {"client": "c", "seq": 1, "records": [{"step": 1}]},
            f"{JOBS}/{{job}}/clear": {"what": "profile"},
            "/api/v1/kinds": kind,
            "/api/v1/query": {"sql": "SELECT 1"},
        }
        server.told("POST", "/api/v1/kinds", kind, 201)
        wrong: list[str] = []
        for path, operations in sorted(description["paths"].items(), reverse=True):
            for method in sorted(set(operations) - {"parameters"}, reverse=True):
                responses = operations[method]["responses"]
                if path == "/api/v1/events":
                    continue
                good = path.replace("{job}", "job").replace("{kind}", "loss")
                bad = path.replace("{job}", "ghost").replace("{kind}", "none")
                body = bodies.get(path) if method == "post" else None
                calls = [
                    (good, body, None),
                    (bad, body, None),
                    (good, b"{", None),
                    (good, body, "x"),
                    (good.replace("job", "%20"), body, None),
                ]
                for place, content, token in calls:
                    status, answer = server.call(method.upper(), place, content, token)
                    if "%20" in place and "{job}" not in path:
                        continue
                    wrong += misfits(description, f"{method} {place} {status}", responses, status, answer)
        check("answers that differ from the description", [], wrong[:5])


def misfits(description: Any, call: str, responses: Any, status: int, answer: Any) -> list[str]:
    if str(status) not in responses:
        return [f"{call}: not described, {str(answer)[:100]}"]
    response = resolved(description, responses[str(status)])
    kinds = response.get("content", {})
    return faults(description, answer, kinds["application/json"]["schema"], call) if "application/json" in kinds else []


def resolved(description: Any, schema: Any) -> Any:
    while "$ref" in schema:
        place = description
        for word in schema["$ref"].removeprefix("#/").split("/"):
            place = place[word]
        schema = place
    return schema


def faults(description: Any, value: Any, schema: Any, place: str) -> list[str]:
    schema = resolved(description, schema)
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        return [f"{place} is {value!r}, described as {schema['type']}"]
    if isinstance(value, list):
        return [wrong for item in value for wrong in faults(description, item, schema["items"], f"{place}[]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    wrong = [f"{place}.{key} is missing" for key in schema["required"] if key not in value]
    for key, part in value.items():
        known = key in schema["properties"]
        wrong += faults(description, part, schema["properties"][key], f"{place}.{key}") if known else []
        wrong += [] if known or schema["additionalProperties"] else [f"{place}.{key} is not described"]
    return wrong


def test_server_compressed(box: Box) -> None:
    """Bulk comes and goes compressed; what swells beyond the limit is refused before it fills the memory."""
    with serving(box) as server:
        counts = {f"function {number}": number for number in range(20_000)}
        packed = gzip.compress(json.dumps(batch("c", 1, **counts)).encode(), 1)
        for _ in range(2):
            server.told("POST", f"{JOBS}/job/profile", packed, Content_Encoding="gzip")
        rows = server.told("GET", f"{JOBS}/job/profile", Accept_Encoding="gzip")["rows"]
        check("rows", counts, {row["node"]: row["count"] for row in rows})
        bomb = gzip.compress(bytes(300_000_000), 1)
        server.told("POST", f"{JOBS}/job/profile", bomb, 413, Content_Encoding="gzip")
        server.told("POST", f"{JOBS}/job/profile", b"x", 415, Content_Encoding="br")


def test_server_hostile(box: Box) -> None:
    """Requests hidden in others, lengths without end, other languages: one refusal each, and the server goes on."""
    with serving(box) as server:
        head = f"Host: x\r\nAuthorization: Bearer {server.token}\r\n"
        body = '{"name": "smuggled"}'
        inner = f"POST {JOBS} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
        outer = f"POST {JOBS}/job/profile HTTP/1.1\r\n{head}"
        cases = {
            "length and chunks": (
                400,
                f"{outer}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}",
            ),
            "two lengths": (400, f"{outer}Content-Length: 0\r\nContent-Length: {len(inner)}\r\n\r\n{inner}"),
            "another coding": (400, f"{outer}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"),
            "a folded length": (400, f"{outer}Content-Length:\r\n 0\r\n\r\n{inner}"),
            "a chunk below zero": (400, f"{outer}Transfer-Encoding: chunked\r\n\r\n-1\r\n{inner}"),
            "a body of 1 TB": (413, f"{outer}Content-Length: 1000000000000\r\n\r\n"),
            "a chunk of 1 TB": (413, f"{outer}Transfer-Encoding: chunked\r\n\r\ne8d4a51000\r\n{{"),
            "a header of 1 MB": (431, f"GET {JOBS} HTTP/1.1\r\n{head}X: {'a' * 1_000_000}\r\n\r\n"),
            "HTTP/2": (505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            "SSH": (400, "SSH-2.0-OpenSSH_9.2\r\n"),
        }
        for case, (status, request) in cases.items():
            got = re.findall(rb"HTTP/1\.1 (\d+)", server.raw(request.encode()))
            check(case, [b"%d" % status], got)
        check("jobs", ["job"], [job["name"] for job in server.told("GET", JOBS)["jobs"]])
        line = server.raw(b'{"command": 5, "cmd": "LIST"}')
        check_true(f"one line for the old wire: {line!r}", line.count(b"\n") == 1 and b"not spoken" in line)
        server.raw(random.Random(1).randbytes(100_000))


def test_server_slow_peers(box: Box) -> None:
    """Peers that say nothing, or a byte now and then, are let go; others are served meanwhile."""
    with serving(box) as server:
        head = f"POST {JOBS}/job/profile HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
        first = ["", "GET /heal", f"{head}Content-Length: 10000\r\n\r\n"]
        peers = [socket.create_connection((HOST, server.port), 60) for _ in first]
        for peer, text in zip(peers, first, strict=True):
            peer.sendall(text.encode())
            peer.settimeout(0.2)
        end = time.monotonic() + 120
        while peers and time.monotonic() < end:
            peers = [peer for peer in peers if not has_gone(peer)]
            check("healthz", 200, server.call("GET", "/healthz")[0])
        check("peers that were never let go", 0, len(peers))


def has_gone(peer: socket.socket) -> bool:
    """Says a byte more; whether the server has closed."""
    try:
        peer.sendall(b"x")
        return peer.recv(100) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def send_all(server: Server, client: str, count: int, failures: list[str]) -> None:
    """Each batch until it is acknowledged, whatever happens to the server meanwhile."""
    for seq in range(count):
        for _ in range(2000):
            try:
                status, answer = server.call("POST", f"{JOBS}/job/profile", batch(client, seq, turn=1))
            except (OSError, http.client.HTTPException):
                status, answer = 503, ""
            if status == 200:
                break
            if status not in (429, 503):
                failures.append(f"{status} {answer}")
                return
            time.sleep(0.02)
        else:
            failures.append("no server any more")


def test_server_many_clients(box: Box) -> None:
    """A thousand connections at once: each gets its answer, and every number is there."""
    count = 1000 if os.environ.get("FATHOM_FULL") else 200
    with serving(box) as server:
        held = [server.connect() for _ in range(count)]
        for connection in held:
            connection.connect()
        headers = {"Authorization": f"Bearer {server.token}"}
        for number, connection in enumerate(held):
            body = json.dumps(batch(f"client {number}", 1, turn=1))
            connection.request("POST", f"{JOBS}/job/profile", body, headers)
        check("statuses", {200}, {connection.getresponse().status for connection in held})
        check("the sum", {"turn": count}, server.profile("job"))
        for connection in held:
            connection.close()


def test_server_stopped_and_killed_under_load(box: Box) -> None:
    """Clients go on while it is stopped, and killed: what was acknowledged is there, once."""
    server = Server(box)
    server.told("POST", JOBS, {"name": "job"}, 201)
    failures: list[str] = []
    count = 60
    clients = [threading.Thread(target=send_all, args=(server, f"c{n}", count, failures)) for n in range(4)]
    for client in clients:
        client.start()
    for end in (server.stop, server.kill, server.stop, server.kill):
        time.sleep(0.3)
        end()
        server.start(server.port)
    for client in clients:
        client.join()
    check("failures", [], failures)
    check("the sum", {"turn": 4 * count}, server.profile("job"))
    server.stop()


def test_server_events(box: Box) -> None:
    """Who watches is told what arrived; the stream ends with the server."""
    with serving(box) as server:
        connection = server.connect()
        connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {server.token}"})
        answer = connection.getresponse()
        check("type", "text/event-stream", answer.getheader("Content-Type"))
        server.told("POST", f"{JOBS}/job/profile", batch("c", 1, f=7))
        line = b""
        while not line.startswith(b"data:"):
            line = answer.readline()
        arrived = json.loads(line.removeprefix(b"data:"))["arrived"]
        check("arrived", [{"job": "job", "kind": "profile", "batches": 1, "rows": 1, "count": 7}], arrived)
        metrics = server.told("GET", "/metrics")
        check_true("the stream in /metrics", "fathom_event_streams 1\n" in metrics)


def test_server_stores_away(box: Box) -> None:
    """A store that cannot be opened: one line, status 3, and no server that says it is ready."""
    for store in ("redis://127.0.0.1:1/0", f"sqlite:{box.root}/missing/jobs.db"):
        command = [box.kit.fathom, "server", "--listen", f"{HOST}:0", "--data", box.root / "data", "--store", store]
        out, err = box.finish(box.start(*command, env={"HOME": str(Path(box.root))}), 3)
        check(f"stdout and lines of stderr ({err!r})", (b"", 1), (out, err.count(b"\n")))

# SPDX-License-Identifier: MIT
"""Recordings on a server: sent, opened without copying what is not asked for, and linked from what agents measured."""

import contextlib
import hashlib
import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from kit import Box, check, check_true
from test_agent import laps
from test_server import HOST, Server

RECORDINGS = "/api/v1/recordings"
# Pseudorandom times, so that the rows take room in a file however it is compressed.
EVENTS = 200_000


class Wire:
    """What passes between a client and a server, counted."""

    def __init__(self, port: int) -> None:
        self.target, self.bytes = port, 0
        self.socket = socket.create_server((HOST, 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.socket.accept()
                far = socket.create_connection((HOST, self.target))
                for pair in ((near, far, 0), (far, near, 1)):
                    threading.Thread(target=self.copy, args=pair, daemon=True).start()

    def copy(self, source: socket.socket, sink: socket.socket, counts: int) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                self.bytes += counts * len(part)
                sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)

    def taken(self) -> int:
        taken, self.bytes = self.bytes, 0
        return taken


def text_recording(box: Box, name: str = "run") -> Path:
    """A recording with many events and few sums, made of text."""
    lines = [
        "fathom recording 1",
        "run command=work host=here start=1000000000000 duration=2000000000 exit=0",
        "layer posix on",
        "process 10 name=work start=0 end=2000000000",
        "thread 10/10 start=0 end=2000000000",
    ]
    state = 1
    for number in range(EVENTS):
        state = state * 6364136223846793005 + 1442695040888963407 & (2**64 - 1)
        call = f"posix read category=read file=/d/{state % 97} bytes={state >> 44}"
        lines.append(f"event 10/10 {number * 9000} +{state >> 51} {call}")
    source = box.root / f"{name}.txt"
    source.write_text("\n".join(lines) + "\n")
    box.fathom("import", source, "-o", box.root / f"{name}.fathom")
    return box.root / f"{name}.fathom"


@contextlib.contextmanager
def serving(box: Box, *options: str) -> Iterator[Server]:
    server = Server(box, *options)
    yield server
    check("state of the server", None, server.process.poll())
    server.stop()


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_far_recording(box: Box) -> None:
    """Reports, SQL, info, exports and comparisons say of a recording on a server what they say of one here; sums bring
    no events; what came once does not come again."""
    near = text_recording(box)
    with serving(box) as server:
        word = server.fathom("job", "add-recording", near).decode().strip()
        check("the word for it", f"http://{HOST}:{server.port}/recordings/run", word)
        check("what is kept", ["run"], server.told("GET", RECORDINGS)["recordings"])
        wire = Wire(server.port)
        server.env["FATHOM_TOKEN"] = server.token
        far = f"http://{HOST}:{wire.port}/recordings/run"
        whole = size_of(near)
        check("info", *(json.loads(server.fathom("info", name, "--format", "json"))["bytes"] for name in (near, far)))
        wire.taken()
        same = ["report", None, "layers"], ["report", None, "files", "--format", "json"]
        for question in same:
            answers = [server.fathom(*(name if word is None else word for word in question)) for name in (near, far)]
            check(f"{question}", *answers)
        for_sums = wire.taken()
        check_true(f"{for_sums} of {whole} bytes for sums", for_sums < whole / 3)
        sql = "SELECT count(*), sum(dur), max(bytes) FROM events"
        check("sql", *(server.fathom("sql", name, sql) for name in (near, far)))
        check_true(f"events came: {wire.taken()} of {whole}", True)
        check("sql", *(server.fathom("sql", name, sql) for name in (near, far)))
        again = wire.taken()
        check_true(f"{again} bytes for events that are here", again < 200_000)
        check("diff", *(server.fathom("diff", near, name) for name in (near, far)))
        for name, out in ((near, "near"), (far, "far")):
            server.fathom("export", name, "--format", "csv", "-o", box.root / f"{out}.csv")
        check("export", (box.root / "near.csv").read_bytes(), (box.root / "far.csv").read_bytes())
        rooms = server.home / ".cache" / "fathom" / "recordings" / "rooms"
        check("rooms left behind", [], list(rooms.iterdir()))


def told_error(server: Server, *words: object, status: int) -> str:
    process = server.box.start(server.box.kit.fathom, *words, env=server.env)
    out, err = server.box.finish(process, status)
    check(f"stdout of {words!r}", b"", out)
    check_true(f"one line on stderr: {err!r}", err.startswith(b"fathom: ") and err.count(b"\n") == 1)
    return err.decode()


def test_far_words(box: Box) -> None:
    """Each mistake has a sentence that says what to do; a recording that is not packed is not sent."""
    near = text_recording(box)
    with serving(box) as server:
        url = f"http://{HOST}:{server.port}"
        server.fathom("job", "add-recording", near, "night.7")
        check("again", f"{url}/recordings/night.7\n", server.fathom("job", "add-recording", near, "night.7").decode())
        check_true("the same words", b"night.7" in server.fathom("job", "recordings"))
        for word in (f"{url}/recordings/night.7", f"{url}/night.7", f"{url}{RECORDINGS}/night.7/", "recording:night.7"):
            check(word, server.fathom("report", near, "layers"), server.fathom("report", word, "layers"))
        check_true("no such", "job recordings" in told_error(server, "report", f"{url}/recordings/ghost", status=3))
        check_true("no name", "URL/recordings/NAME" in told_error(server, "report", url, status=2))
        check_true("up", "URL/recordings/NAME" in told_error(server, "report", f"{url}/recordings/..", status=2))
        told_error(server, "symbolize", f"{url}/recordings/night.7", status=3)
        remove = ("job", "remove-recording")
        check_true("nobody can be asked", "--yes" in told_error(server, *remove, "night.7", status=2))
        check_true("it is still there", b"night.7" in server.fathom("job", "recordings"))
        check_true("none to remove", "ghost" in told_error(server, *remove, "ghost", "--yes", status=3))
        server.fathom(*remove, "night.7", "--yes")
        check_true("removed", b"night.7" not in server.fathom("job", "recordings"))
        server.fathom("job", "add-recording", near, "night.7")
        taken = text_recording(box, "other")
        (taken / "extra").write_text("x")
        check_true("taken", "another name" in told_error(server, "job", "add-recording", taken, "night.7", status=3))
        (taken / "spool").mkdir()
        check_true("not packed", "fathom collect" in told_error(server, "job", "add-recording", taken, status=3))
        for variable in ("", "0" * 64):
            stranger = {**server.env, "HOME": str(box.root), "FATHOM_TOKEN": variable}
            process = box.start(box.kit.fathom, "report", f"{url}/recordings/night.7", env=stranger)
            check_true("a stranger is told of FATHOM_TOKEN", b"FATHOM_TOKEN" in box.finish(process, 3)[1])
    server.env["FATHOM_TOKEN"] = ""
    check_true("away", "is it running" in told_error(server, "report", f"{url}/recordings/night.7", status=3))


def test_far_tls(box: Box) -> None:
    """By TLS, with the certificate that the user's own server has left word of; a stranger does not trust it."""
    near = text_recording(box)
    with serving(box, "--self-signed") as server:
        word = server.fathom("job", "add-recording", near).decode().strip()
        check_true(word, word.startswith("https://"))
        check("report", server.fathom("report", near, "layers"), server.fathom("report", word, "layers"))
        stranger = {**server.env, "HOME": str(box.root), "FATHOM_TOKEN": server.token}
        process = box.start(box.kit.fathom, "report", word, env=stranger)
        check_true("not trusted", b"certificate" in box.finish(process, 3)[1])


class Liar(http.server.BaseHTTPRequestHandler):
    """A server that says of a recording what the test wants."""

    protocol_version = "HTTP/1.1"
    manifest: ClassVar[dict[str, Any]] = {}
    files: ClassVar[dict[str, bytes]] = {}
    endless: ClassVar[bool] = False
    whole: ClassVar[bool] = False

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        if "/files/" not in self.path:
            return self.answer(200, json.dumps(self.manifest).encode())
        content = self.files.get(self.path.split("/files/")[1].replace("%2F", "/"), b"")
        first, last = (int(word) for word in self.headers["Range"][6:].split("-"))
        if self.endless:
            return self.pour()
        return self.answer(200, content) if self.whole else self.answer(206, content[first : last + 1])

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def pour(self) -> None:
        self.send_response(206)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(bytes(1 << 20))


def test_far_liars(box: Box) -> None:
    """Wrong hashes, wrong sizes, names that lead outside, bodies without an end: an error, and nothing is touched."""
    near = text_recording(box)
    files = {str(path.relative_to(near)): path.read_bytes() for path in near.rglob("*") if path.is_file()}
    entries = [
        {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in sorted(files.items())
    ]
    honest = {"name": "run", "files": entries}
    Liar.files = files
    with http.server.ThreadingHTTPServer((HOST, 0), Liar) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = box.root / "home"
        home.mkdir()
        env = {"HOME": str(home), "XDG_RUNTIME_DIR": "", "XDG_CACHE_HOME": "", "FATHOM_TOKEN": "x"}
        word = f"http://{HOST}:{server.server_address[1]}/recordings/run"

        def ask(what: str, status: int = 3) -> bytes:
            process = box.start(box.kit.fathom, "sql", word, "SELECT sum(dur) FROM events", env=env)
            out, err = box.finish(process, status)
            check_true(f"{what}: {err!r}", status == 0 or (out == b"" and err.count(b"\n") == 1))
            return out

        def changed(number: int, **what: Any) -> dict[str, Any]:
            return {**honest, "files": [{**e, **what} if i == number else e for i, e in enumerate(entries)]}

        events = next(i for i, entry in enumerate(entries) if entry["name"].startswith("events"))
        Liar.manifest = changed(events, sha256="0" * 64)
        ask("another hash")
        for name in ("../../../evil.parquet", "/tmp/evil.parquet", "a/../b.parquet", "a\0b.parquet", ""):
            Liar.manifest = changed(events, name=name)
            ask(f"name {name!r}")
        for size in (1, len(files["manifest.json"]) + 10**6, 2**62, -1):
            Liar.manifest = changed(events, size=size)
            ask(f"size {size}")
        for lie in ({"name": "other"}, {"files": {}}, {"files": [entries[0], entries[0]]}):
            Liar.manifest = {**honest, **lie}
            ask(f"{lie}"[:60])
        Liar.manifest = honest
        Liar.endless = True
        ask("without an end")
        Liar.endless, Liar.whole = False, True
        ask("the whole file for a part of it")
        Liar.whole = False
        check("the honest one", box.fathom("sql", near, "SELECT sum(dur) FROM events"), ask("honest", 0))
        left = [path for path in home.rglob("*") if path.is_file()]
        check_true("only contents are left", all(path.parent.name == "contents" for path in left))
        server.shutdown()


def test_far_uploads(box: Box) -> None:
    """`--record`: a benchmark's record links to its recording, which `job show` names as `fathom report` takes it;
    without a server it lies beside the user's own jobs; a server that is away gets both later, once."""
    server = Server(box)
    program = laps(box)
    server.fathom("job", "create", "nightly")
    server.fathom("agent", "bench", "--job", "nightly", "-r", 2, "--record", "--", program, 20)
    [record] = json.loads(server.fathom("job", "show", "nightly", "--benchmarks", "--format", "json"))
    check("repetitions", 2, len(record["runs"]))
    word = f"http://{HOST}:{server.port}/recordings/{record['recording']}"
    check_true("its link", word.encode() in server.fathom("job", "show", "nightly", "--benchmarks"))
    check_true("its program", b"laps" in server.fathom("info", word))
    server.fathom("agent", "profile", "--job", "nightly", "--record", "--", program, 200)
    check("recordings", 2, len(server.told("GET", RECORDINGS)["recordings"]))
    port = server.port
    server.kill()
    (server.home / ".config" / "fathom" / "server.json").unlink()
    away = {**server.env, "FATHOM_SERVER": f"http://{HOST}:{port}", "FATHOM_TOKEN": server.token}
    words = (box.kit.fathom, "agent", "bench", "--job", "nightly", "--record", "--", program, 20)
    box.finish(box.start(*words, env=away), 0)
    waiting = list((box.root / "state" / "fathom" / "outbox-recordings").iterdir())
    check("what waits", 1, len(waiting))
    server.start(port)
    for expected in (3, 3):
        box.finish(box.start(box.kit.fathom, "agent", "flush", env=away), 0)
        check("recordings", expected, len(server.told("GET", RECORDINGS)["recordings"]))
        check(
            "records", 2, len(json.loads(server.fathom("job", "show", "nightly", "--benchmarks", "--format", "json")))
        )
    check("what waits", [], list(waiting[0].parent.iterdir()))
    server.stop()
    server.fathom("job", "create", "own")
    server.fathom("agent", "bench", "--job", "own", "--record", "--", program, 20)
    [record] = json.loads(server.fathom("job", "show", "own", "--benchmarks", "--format", "json"))
    check_true("in process", b"laps" in server.fathom("info", f"recording:{record['recording']}"))


def test_far_profile_streams(box: Box) -> None:
    """A profile grows in its job while the program runs, and is exact at its end, also where the agent was killed."""
    server = Server(box)
    server.fathom("job", "create", "live")
    words = (box.kit.fathom, "agent", "profile", "--job", "live", "--interval", 0.3, "--record", "--", laps(box), 4000)
    agent = box.start(*words, env=server.env)
    first = 0
    while agent.poll() is None and first == 0:
        first = server.profile("live").get("lap", 0)
        time.sleep(0.05)
    check_true(f"a sum while it runs: {first}", first > 0 and agent.poll() is None)
    box.finish(agent, 0)
    spent = server.profile("live")["lap"]
    check_true(f"in the end {spent}, at first {first}", first < spent < 4.6e9)
    [name] = server.told("GET", RECORDINGS)["recordings"]
    sql = 'SELECT node, execname AS exec, event, "count" FROM nodes'
    recorded = json.loads(server.fathom("sql", f"recording:{name}", sql, "--format", "json"))
    rows = server.told("GET", "/api/v1/jobs/live/profile")["rows"]
    check("sums of the job and of the recording", *(sorted(map(str, known)) for known in (recorded, rows)))
    server.stop()

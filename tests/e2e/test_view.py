# SPDX-License-Identifier: MIT
"""`fathom view` as browsers and strangers meet it: the token, the cookie, foreign pages, SQL that does more than ask, a
recording that is being made, and its end."""

import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kit import Box, Failure, Process, Skipped, check, check_true
from test_server import Server

HOST = "127.0.0.1"
FOR_YEARS = (
    "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c "
    "WHERE a.range * b.range % 7 = c.range % 11"
)
SCRIPT = "<script>alert(1)</script>"
QUERY = "/api/v1/query"
PAGE = "/api/v1/page"


class Answer:
    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = answer.status, answer.headers, answer.read()
        if answer.getheader("Content-Encoding") == "gzip":
            self.body = gzip.decompress(self.body)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(str(self.path))


def key_of(answer: Answer) -> str:
    """The page's key, where the answer to a token leads."""
    found = re.fullmatch(r"/\?key=([0-9a-f]{64})", str(answer.headers["Location"]))
    if not found:
        raise Failure(f"leads to {answer.headers['Location']!r}")
    return found[1]


class View:
    """A view of this test alone."""

    def __init__(self, box: Box, *words: object, env: dict[str, str] | None = None) -> None:
        if "view " not in box.fathom("--help").decode():
            raise Skipped("built without the fleet")
        self.box, self.socket = box, None
        self.process: Process = box.start(
            box.kit.fathom, "view", *words, env={"DISPLAY": "", "WAYLAND_DISPLAY": "", **(env or {})}
        )
        line = self.process.stdout.readline().decode() if self.process.stdout else ""
        found = re.fullmatch(r"ready http://([\w.\[\]:]+?)(?::(\d+))?/\?token=([0-9a-f]{64})\n", line)
        if not found:
            raise Failure(f"first line {line!r}, stderr {box.finish(self.process, None)[1]!r}")
        self.port, self.token, self.key = int(found[2] or 0), found[3], ""

    def connect(self) -> http.client.HTTPConnection:
        if self.socket:
            return UnixConnection(self.socket)
        return http.client.HTTPConnection(HOST, self.port, timeout=60)

    def bare(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        """Asked without a token."""
        with contextlib.closing(self.connect()) as connection:
            told = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body.encode(), told)
            return Answer(connection.getresponse())

    def ask(self, method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> Answer:
        content = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        answer = self.bare(method, path, content, Authorization=f"Bearer {self.token}", **headers)
        check(f"status of {method} {path} ({answer.body[:200]!r})", status, answer.status)
        return answer

    def rows(self, sql: str, recording: str = "") -> list[list[Any]]:
        rows: list[list[Any]] = self.ask("POST", QUERY, {"sql": sql, "recording": recording}).json["rows"]
        return rows

    def log_in(self) -> str:
        """The cookie, as a browser would send it; the key that the page would keep is in `key`."""
        answer = self.bare("GET", f"/?token={self.token}")
        check("status of the address with the token", 303, answer.status)
        self.key = key_of(answer)
        return str(answer.headers["Set-Cookie"]).split(";")[0]

    def page(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        """Asked as the page asks: with its key, and a cookie among the headers."""
        return self.bare(method, path, body, Fathom_Key=self.key, **headers)

    def stop(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)
        check("what it says at its end", (b"", b""), self.box.finish(self.process))


@contextlib.contextmanager
def viewing(box: Box, *words: object) -> Iterator[View]:
    """A view that has to live to its end, and end well."""
    view = View(box, *(words or (box.trace,)))
    yield view
    check("state of the view", None, view.process.poll())
    view.stop()


def record_files(box: Box) -> None:
    """A program that reads a file whose name is a script."""
    (box.dir / SCRIPT.replace("/", "|")).write_text("x" * 10_000)
    box.record("sh", "-c", "for i in 1 2 3; do cat ./*alert* >/dev/null; done")


def test_view_token_and_cookie(box: Box) -> None:
    """Nobody gets in without the token; the address with it gives a cookie, once, and leads to one without it."""
    record_files(box)
    with viewing(box) as view:
        for path in ("/", "/?token=", f"/?token={'0' * 64}", f"/?token={view.token[:-1]}", PAGE, "/page.js"):
            answer = view.bare("GET", path)
            check(f"status of {path}", 401, answer.status)
            check_true("no cookie", "Set-Cookie" not in answer.headers)
            check_true("never handed out", view.token.encode() not in answer.body)
        door = view.bare("GET", "/")
        check_true("what to do", b"fathom view" in door.body)
        first = view.bare("GET", f"/?token={view.token}")
        check("lead", 303, first.status)
        view.key = key_of(first)
        name, *attributes = str(first.headers["Set-Cookie"]).split("; ")
        check("attributes", ["HttpOnly", "Path=/", "SameSite=Strict"], sorted(attributes))
        check_true("the cookie is not the token", view.token not in name)
        check_true("nor is the key", view.key not in (view.token, name.split("=")[1]))
        page = view.bare("GET", "/", Cookie=name)
        check("the page", (200, "text/html; charset=utf-8"), (page.status, page.headers["Content-Type"]))
        check_true("no token in it", view.token.encode() not in page.body)
        check("recordings", 1, len(view.page("GET", PAGE, Cookie=name).json["recordings"]))
        check("form", 303, view.bare("POST", "/login", f"token={view.token}").status)
        check("wrong form", 401, view.bare("POST", "/login", "token=x").status)
        check("another's cookie", 401, view.page("GET", PAGE, Cookie=name[:-1] + "x").status)


def test_view_cookie_alone(box: Box) -> None:
    """Browsers send the cookie to every port of a host: whoever listens there can ask nothing with it, learn no key,
    nor lock the page out with a cookie of its own."""
    record_files(box)
    with viewing(box) as view:
        cookie = view.log_in()
        query = json.dumps({"sql": "SELECT 1"})
        for path in (PAGE, "/api/v1/report/files", "/api/v1/export?format=csv", "/api/v1/changes", "/openapi.json"):
            for key in ({}, {"Fathom_Key": ""}, {"Fathom_Key": "0" * 64}, {"Fathom_Key": cookie.split("=")[1]}):
                answer = view.bare("GET", path, Cookie=cookie, **key)
                check(f"{path} with {key}", 401, answer.status)
                check_true("what to do", b"open the address that fathom printed" in answer.body)
        check("a question", 401, view.bare("POST", QUERY, query, Cookie=cookie).status)
        check("the key alone", 401, view.page("GET", PAGE).status)
        for path in ("/", "/page.js", f"/?key={'0' * 64}", "/?key="):
            answer = view.bare("GET", path, Cookie=cookie)
            told = answer.body + str(answer.headers).encode()
            check_true(f"{path} tells no key", view.key.encode() not in told)
        check("a link that would change the key", 303, view.bare("GET", "/?key=x", Cookie=cookie).status)
        check("a question of the page", 200, view.page("POST", QUERY, query, Cookie=cookie).status)
        check("a download", 200, view.bare("GET", f"/api/v1/export?format=csv&key={view.key}", Cookie=cookie).status)
        name = cookie.split("=")[0]
        for both in (f"{name}=planted; {cookie}", f"{cookie}; {name}={'0' * 64}"):
            check(f"cookies {both}", 200, view.page("GET", PAGE, Cookie=both).status)


def test_view_silent_strangers(box: Box) -> None:
    """However many begin a request and never end it, whoever has the token is answered."""
    record_files(box)
    with viewing(box) as view, contextlib.ExitStack() as lines:
        for number in range(600):
            line = lines.enter_context(socket.create_connection((HOST, view.port), timeout=60))
            line.sendall(b"GET / HTTP/1.1\r\nHost: " if number % 2 else b"")
            if number % 50 == 0:
                view.ask("GET", PAGE)
        for _ in range(5):
            view.ask("GET", PAGE)


def test_view_says_what_is_there(box: Box) -> None:
    """The description lists what is served; a parameter that does not exist is named, with those that do."""
    record_files(box)
    with viewing(box) as view:
        paths = view.ask("GET", "/openapi.json").json["paths"]
        check_true("what is there", {PAGE, QUERY, "/", "/login", "/openapi.json"} <= set(paths))
        check("what is not", [], [path for path in paths if "jobs" in path or path in ("/metrics", "/healthz")])
        for path in ("page", "report/files", "flame", "timeline", "tracks", "export", "schema", "diff", "changes"):
            said = str(view.ask("GET", f"/api/v1/{path}?pids=1", status=400).json["error"])
            check_true(f"{path}: {said}", said.startswith("there is no parameter 'pids'; this path takes "))


def test_view_damaged_among_several(box: Box) -> None:
    """One that cannot be opened keeps nobody from the others; the page and the command say why."""
    record_files(box)
    broken = box.root / "broken.fathom"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    view = View(box, broken, box.trace)
    told = view.ask("GET", PAGE).json
    check("recordings", ["trace.fathom"], [one["id"] for one in told["recordings"]])
    check("not shown", [str(broken)], [one["name"] for one in told["not_shown"]])
    check_true("why", told["not_shown"][0]["reason"] != "")
    view.process.send_signal(signal.SIGINT)
    _, said = box.finish(view.process)
    check_true(f"said {said!r}", b"not shown" in said and b"broken.fathom" in said)
    alone = box.start(box.kit.fathom, "view", broken)
    check_true("nothing to show", b"broken.fathom" in box.finish(alone, 3)[1])


def test_view_files_of_the_page(box: Box) -> None:
    """Compressed for whoever takes it, with their types and tags, and a policy that runs no script of a name's."""
    record_files(box)
    with viewing(box) as view:
        cookie = view.log_in()
        for path, kind in {
            "/": "text/html",
            "/page.js": "text/javascript",
            "/page.css": "text/css",
            "/icon.svg": "image/svg+xml",
        }.items():
            plain = view.bare("GET", path, Cookie=cookie)
            check(f"status of {path}", 200, plain.status)
            check_true(f"type of {path}", str(plain.headers["Content-Type"]).startswith(kind))
            check("nosniff", "nosniff", plain.headers["X-Content-Type-Options"])
            check("referrer", "no-referrer", plain.headers["Referrer-Policy"])
            policy = str(plain.headers["Content-Security-Policy"])
            check_true("policy", "default-src 'none'" in policy and "frame-ancestors 'none'" in policy)
            check_true("nothing inline", "unsafe" not in policy)
            packed = view.bare("GET", path, Cookie=cookie, Accept_Encoding="gzip")
            check("coding", "gzip", packed.headers["Content-Encoding"])
            check("content", plain.body, packed.body)
            tag = str(plain.headers["ETag"])
            check("known already", 304, view.bare("GET", path, Cookie=cookie, If_None_Match=tag).status)


def test_view_foreign_pages(box: Box) -> None:
    """Another name that leads here, and pages from elsewhere, get nothing: not even with the cookie."""
    record_files(box)
    with viewing(box) as view:
        cookie = view.log_in()
        here = f"{HOST}:{view.port}"
        for host in ("evil.example", f"evil.example:{view.port}", f"{HOST}.evil.example", "10.0.0.1"):
            check(f"Host {host}", 421, view.page("GET", PAGE, Cookie=cookie, Host=host).status)
            check(f"Host {host}", 421, view.bare("GET", f"/?token={view.token}", Host=host).status)
        for host in (here, f"localhost:{view.port}", "localhost:8080", "[::1]:8080"):
            check(f"Host {host}", 200, view.page("GET", PAGE, Cookie=cookie, Host=host).status)
        body = json.dumps({"sql": "SELECT 1"})
        for origin in ("http://evil.example", "null", f"http://{HOST}:{view.port + 1}", f"http://{here}.evil.example"):
            check(f"Origin {origin}", 403, view.page("POST", QUERY, body, Cookie=cookie, Origin=origin).status)
            check(f"Origin {origin}", 403, view.page("GET", PAGE, Cookie=cookie, Origin=origin).status)
        check("own page", 200, view.page("POST", QUERY, body, Cookie=cookie, Origin=f"http://{here}").status)
        check("another port", 403, view.page("GET", PAGE, Cookie=cookie, Sec_Fetch_Site="same-site").status)


def test_view_sql(box: Box) -> None:
    """Judged as `fathom sql` judges: rows and types for questions, a refusal for whatever writes or reads files."""
    record_files(box)
    with viewing(box) as view:
        answer = view.ask("POST", QUERY, {"sql": "SELECT count(*) AS n FROM events WHERE layer = 'posix'"}).json
        check("columns", [{"name": "n", "type": "BIGINT"}], answer["columns"])
        check("rows", box.count("layer = 'posix'"), answer["rows"][0][0])
        out = box.dir / "out.csv"
        for sql in (
            f"COPY events TO '{out}'",
            "CREATE TABLE t AS SELECT 1",
            "SELECT * FROM read_text('/etc/passwd')",
            "SELECT * FROM '/etc/passwd'",
            f"ATTACH '{out}' AS x",
            "SELECT 1; SELECT 2",
            "SELECT",
        ):
            check_true(
                sql,
                view.bare("POST", QUERY, json.dumps({"sql": sql}), Authorization=f"Bearer {view.token}").status
                in (400, 403),
            )
        check_true("nothing written", not out.exists())
    with viewing(box, box.trace, "--timeout", "2s") as view:
        view.ask("POST", QUERY, {"sql": FOR_YEARS}, 408)


def test_view_client_goes(box: Box) -> None:
    """A question ends when nobody waits for its answer: the next ones need not wait for it."""
    record_files(box)
    with viewing(box, box.trace, "--timeout", "1h") as view:
        body = json.dumps({"sql": FOR_YEARS})
        head = f"POST {QUERY} HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {view.token}\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        clients = [socket.create_connection((HOST, view.port)) for _ in range(8)]
        for client in clients:
            client.sendall((head + body).encode())
        time.sleep(0.5)
        for client in clients:
            client.close()
        check("answer", [[1]], view.rows("SELECT 1"))


def answers_in(page: bytes) -> list[dict[str, Any]]:
    """Of a page as a file."""
    (data,) = re.findall(r'id="fathom-data">([^<]*)<', page.decode())
    return json.loads(data)["answers"]


def test_view_reports(box: Box) -> None:
    """What the page is told is what the command prints; names that are scripts stay texts of JSON."""
    record_files(box)
    with viewing(box) as view:
        for name in ("overview", "functions", "files"):
            told = view.ask("GET", f"/api/v1/report/{name}").json
            check(f"report {name}", json.loads(box.fathom("report", box.trace, name, "--format", "json")), told)
        answer = view.ask("GET", "/api/v1/report/files")
        check_true("the name is there", SCRIPT.replace("/", "|") in answer.body.decode())
        check_true("as JSON", str(answer.headers["Content-Type"]).startswith("application/json"))
        part = view.ask("GET", "/api/v1/report/functions?name=open*").json
        check_true("only the part", all(row["name"].startswith("open") for row in part["functions_by_self_time"]))
        export = view.ask("GET", "/api/v1/export?format=csv")
        check("export", box.count("true") + 1, export.body.count(b"\n"))
        check_true("as a file", str(export.headers["Content-Disposition"]).startswith("attachment;"))
        page = box.fathom("export", box.trace, "--format", "html", "-o", "-")
        check("the page as a file", answers_in(page), answers_in(view.ask("GET", "/api/v1/export?format=html").body))


def test_view_several(box: Box) -> None:
    """Several recordings, and a directory of them: as one, and each by itself; one that comes later is found."""
    record_files(box)
    many = box.root / "many"
    many.mkdir()
    for name in ("a", "b"):
        box.fathom("run", "-q", "-o", many / name, "--", "true")
    with viewing(box, box.trace, many) as view:
        ids = [one["id"] for one in view.ask("GET", PAGE).json["recordings"]]
        check("recordings", ["trace.fathom", "many", "many/a", "many/b"], ids)
        check("of the first", box.count("true"), view.rows("SELECT count(*) FROM events")[0][0])
        parts = [view.rows("SELECT count(*) FROM processes", id)[0][0] for id in ("many/a", "many/b")]
        check("as one", sum(parts), view.rows("SELECT count(*) FROM processes", "many")[0][0])
        box.fathom("run", "-q", "-o", many / "c", "--", "true")
        check("the new one", 5, len(view.ask("GET", PAGE).json["recordings"]))
        check("as one", 3 * parts[0], view.rows("SELECT count(*) FROM processes", "many")[0][0])
        for wrong in ("ghost", "../many", "/etc", "many/../many"):
            view.ask("POST", QUERY, {"sql": "SELECT 1", "recording": wrong}, 404)


def test_view_live(box: Box) -> None:
    """A recording that is being made: its rows grow from one question to the next, and its end is told."""
    box.not_emulated("the recorder is looked at while it works")
    go = box.dir / "go"
    os.mkfifo(go)
    program = "import os, sys\nfor line in open(sys.argv[1]):\n"
    program += "  for i in range(1000): os.stat('/')\n  print(line, flush=True)\n"
    recorder = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", "python3", "-c", program, go)
    with go.open("w") as more:

        def step() -> None:
            more.write("go\n")
            more.flush()
            check("step", b"go\n", recorder.stdout.readline() if recorder.stdout else b"")
            if recorder.stdout:
                recorder.stdout.readline()

        step()
        view = View(box, box.trace)
        check("state", "running", view.ask("GET", PAGE).json["recordings"][0]["state"])

        def stats() -> int:
            return int(view.rows("SELECT count(*) FROM events WHERE name LIKE '%stat%'")[0][0])

        box.wait_for("rows of the first step", lambda: stats() >= 1000)
        step()
        box.wait_for("rows of the second step", lambda: stats() >= 2000)
        with contextlib.closing(view.connect()) as connection:
            connection.request("GET", "/api/v1/changes", headers={"Authorization": f"Bearer {view.token}"})
            stream = connection.getresponse()
            told = json.loads(stream.readline().removeprefix(b"data: "))
            check("state", "running", told["state"])
            check_true("events", told["events"] >= 2000)
            more.close()
            last = [line for line in stream.read().splitlines() if line][-1]
            check_true("its end", json.loads(last.removeprefix(b"data: "))["state"] != "running")
    box.finish(recorder)
    box.wait_for("its end", lambda: view.ask("GET", PAGE).json["recordings"][0]["state"] == "complete")
    check("all rows", box.count("name LIKE '%stat%'"), stats())
    view.stop()


def test_view_starts_and_ends(box: Box) -> None:
    """A second one beside it, its port taken, both signals, a start again at the same port with other tokens."""
    record_files(box)
    view = View(box, box.trace)
    cookie = view.log_in()
    other = View(box, box.trace)
    check_true("other token", other.token != view.token)
    check("other cookie", 401, other.bare("GET", PAGE, Cookie=cookie).status)
    other.stop(signal.SIGTERM)
    taken = box.start(box.kit.fathom, "view", box.trace, "--listen", f"{HOST}:{view.port}")
    check_true("port in use", b"cannot listen on" in box.finish(taken, 3)[1])
    with socket.create_connection((HOST, view.port)):  # a silent client delays nothing
        view.stop()
    again = View(box, box.trace, "--listen", f"{HOST}:{view.port}")
    check("after a restart", 401, again.bare("GET", "/", Cookie=cookie).status)
    check("with the new address", 200, again.bare("GET", "/", Cookie=again.log_in()).status)
    again.stop()
    missing = box.start(box.kit.fathom, "view", box.root / "none")
    check_true("no recording", b"none" in box.finish(missing, None)[1])
    check("nothing left", [], [path.name for path in box.dir.glob("fathom-*")])


def test_view_socket(box: Box) -> None:
    """A socket for its owner alone, gone at the end; what else has its name stays."""
    record_files(box)
    place = Path(f"/tmp/fathom-view.{os.getpid()}")
    place.mkdir(mode=0o700)
    box.remove.append(place)
    path = place / "s"
    view = View(box, box.trace, "--socket", path)
    view.socket = path
    check("mode", "0o600", oct(stat.S_IMODE(path.stat().st_mode)))
    check("recordings", 1, len(view.ask("GET", PAGE).json["recordings"]))
    check("nobody else", 401, view.bare("GET", PAGE).status)
    taken = box.start(box.kit.fathom, "view", box.trace, "--socket", path)
    check_true("in use", b"already exists" in box.finish(taken, 3)[1])
    check("still there", 200, view.ask("GET", PAGE).status)
    view.stop()
    check_true("gone", not path.exists())
    path.write_text("mine")
    box.finish(box.start(box.kit.fathom, "view", box.trace, "--socket", path), 3)
    check("what was there", "mine", path.read_text())


def check_forwarded(box: Box, env: dict[str, str]) -> None:
    """What `ssh -L` is told leads to where the page listens, whatever that is."""
    asked = {
        ("--listen", "127.0.0.2:0"): "PORT:127.0.0.2:PORT",
        ("--listen", "[::1]:0"): "'PORT:[::1]:PORT'",
        ("--listen", "0.0.0.0:0"): "PORT:127.0.0.1:PORT",
        ("--socket", "./s.sock"): f"8080:{box.dir}/s.sock",
    }
    for words, forwarded in asked.items():
        view = View(box, box.trace, *words, env=env)
        line = view.process.stdout.readline().decode() if view.process.stdout else ""
        told = re.search(r" -L (\S+) ", line)
        check(" ".join(words), forwarded.replace("PORT", str(view.port)), told and told[1])
        view.process.send_signal(signal.SIGINT)
        box.finish(view.process)  # says on stderr where others can reach it


def test_view_over_ssh(box: Box) -> None:
    """The line that leads here from another machine; a browser only where there is a display."""
    record_files(box)
    bin_dir = box.dir / "bin"
    bin_dir.mkdir()
    opened = box.dir / "opened"
    (bin_dir / "xdg-open").write_text(f'#!/bin/sh\ncat "$1" >"{opened}.part"\nmv "{opened}.part" "{opened}"\n')
    (bin_dir / "xdg-open").chmod(0o755)
    env = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "SSH_CONNECTION": "1.2.3.4 50000 10.0.0.9 22"}
    view = View(box, box.trace, env=env)
    line = view.process.stdout.readline().decode() if view.process.stdout else ""
    check_true(f"line {line!r}", f" -L {view.port}:{HOST}:{view.port} " in line and line.endswith("@10.0.0.9\n"))
    view.stop()
    check_true("no display, no browser", not opened.exists())
    check_forwarded(box, env)
    del env["SSH_CONNECTION"]
    view = View(box, box.trace, env={**env, "DISPLAY": ":9"})
    box.wait_for("browser", opened.exists)
    check_true("leads to the page", f"token={view.token}" in opened.read_text())
    view.stop()
    view = View(box, box.trace, "--no-open", env={**env, "DISPLAY": ":9"})
    view.stop()


def test_view_of_a_server(box: Box) -> None:
    """The server's page: any token lets its owner look, its cookie lets nobody do more, and it survives a restart."""
    record_files(box)
    server = Server(box)
    server.fathom("job", "add-recording", box.trace, "night.7")
    server.fathom("job", "create", "mine")

    def bare(method: str, path: str, body: str = "", **headers: str) -> Answer:
        with contextlib.closing(server.connect()) as connection:
            connection.request(method, path, body.encode(), headers)
            return Answer(connection.getresponse())

    here = f"{HOST}:{server.port}"
    check("nobody", 401, bare("GET", "/").status)
    first = bare("POST", "/login", f"token={server.token}")
    check("log in", 303, first.status)
    cookie = str(first.headers["Set-Cookie"]).split(";")[0]
    check("the page", 200, bare("GET", "/", Cookie=cookie).status)
    check("the cookie alone", 401, bare("GET", PAGE, Cookie=cookie).status)
    mine = {"Cookie": cookie, "Fathom-Key": key_of(first)}
    page = bare("GET", PAGE, **mine).json
    check("recordings", ("server", ["night.7"]), (page["mode"], [one["id"] for one in page["recordings"]]))
    query = json.dumps({"sql": "SELECT count(*) FROM events", "recording": "night.7"})
    check("rows", [[box.count("true")]], bare("POST", QUERY, query, **mine).json["rows"])
    check("only looks", 403, bare("DELETE", "/api/v1/jobs/mine", **mine).status)
    for origin in ("http://evil.example", f"http://{HOST}:{server.port + 1}", "null"):
        check(f"Origin {origin}", 403, bare("GET", PAGE, **mine, Origin=origin).status)
    check("its own page", 200, bare("GET", PAGE, **mine, Origin=f"http://{here}").status)
    for host in ("evil.example", f"evil.example:{server.port}", "10.0.0.1"):
        check(f"Host {host}", 421, bare("GET", PAGE, **mine, Host=host).status)
        check("a program", 200, bare("GET", PAGE, Authorization=f"Bearer {server.token}", Host=host).status)
        check("a stranger", 401, bare("GET", PAGE, Host=host).status)
    server.stop()
    check("nothing left", [], [path.name for path in server.data.glob("opened-*")])
    server.start(server.port)
    check("after a restart", 200, bare("GET", PAGE, **mine).status)
    server.fathom("server", "token", "remove", "admin", "--data", server.data)
    check("without its token", 401, bare("GET", PAGE, **mine).status)
    server.stop()

# SPDX-License-Identifier: MIT
"""Whatever is asked, the page's server answers in words, stays within its bounds and goes on answering."""

import concurrent.futures
import contextlib
import shutil
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

from kit import Box, check, check_true
from test_canvas import tracks_of
from test_view import HOST, View, viewing

API = "/api/v1/"
PROGRAM = """
import threading
def turn(number):
    for size in range(200):
        with open(f"data-{number}", "w") as out: out.write("x" * size)
threads = [threading.Thread(target=turn, args=(number,)) for number in range(3)]
for one in threads: one.start()
for one in threads: one.join()
"""

# What may stand where a number, a word or a condition is wanted.
ODD = [
    "",
    "-1",
    "NaN",
    "9223372036854775807",
    "-9223372036854775808",
    "' OR 1=1 --",
    "x" * 5000,
    "%00",
    "%ff%fe",
    "%0d%0aX-Evil:%201",
]
PARAMETERS = {
    "tracks": ("host", "pid", "tid", "layers", "name", "where"),
    "timeline": ("from", "to", "width", "tracks", "flows", "pid", "layers", "name", "where"),
    "event": ("row", "where"),
    "flame": ("weight", "order", "invert", "min", "from", "to", "tid", "name", "where"),
    "heatmap": ("rows", "what", "category", "bins", "top", "from", "to", "where"),
    "offsets": ("file", "bins", "offset_bins", "to"),
    "report/functions": ("by", "top", "depth", "call", "file", "from", "where"),
    "export": ("format", "dialect", "table", "weight", "from", "where"),
    "schema": ("recording",),
    "diff": ("a", "b", "confidence"),
}


def in_words(answer_status: int, body: bytes) -> bool:
    return answer_status == 200 or (answer_status in (400, 404, 408, 413, 503) and b'{"error":"' in body)


def memory_of(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def threads_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def test_view_odd_parameters(box: Box) -> None:
    """Each parameter of each route, with what nobody means."""
    box.record(sys.executable, "-c", PROGRAM)
    with viewing(box) as view:
        ids = ",".join(str(track["id"]) for track in tracks_of(view))
        for route, names in PARAMETERS.items():
            for name in names:
                for odd in ODD:
                    value = odd if "%" in odd else quote(odd)
                    given = f"{API}{route}?{name}={value}"
                    if route == "timeline" and name != "tracks":
                        given += f"&tracks={ids}"
                    if route == "export" and name != "format":
                        given += "&format=csv"
                    answer = view.bare("GET", given, Authorization=f"Bearer {view.token}")
                    said = f"{given[:200]}: {answer.status} {answer.body[:200]!r}"
                    check_true(said, in_words(answer.status, answer.body))
                    check_true("no header of ours", answer.headers.get("X-Evil") is None)
        for twice in ("timeline?from=1&from=2", "flame?weight=time&weight=calls", "heatmap?bins=1&bins=9"):
            answer = view.bare("GET", API + twice, Authorization=f"Bearer {view.token}")
            said = f"{twice}: {answer.status} {answer.body[:200]!r}"
            check_true(said, answer.status == 400 and b"stands there twice" in answer.body)


def test_view_extremes(box: Box) -> None:
    """The largest picture that can be asked for is bounded; windows far outside hold nothing and cost nothing."""
    box.record(sys.executable, "-c", PROGRAM)
    far = 9223372036854775807
    with viewing(box) as view:
        ids = ",".join(str(track["id"]) for track in tracks_of(view))
        for begin, end in ((-far, far), (far - 1, far), (-far, 1 - far), (far, -far), (5, 5)):
            status = 400 if end < begin else 200
            window = f"from={begin}&to={end}"
            told = view.ask("GET", f"{API}timeline?{window}&width={far}&flows=1&tracks={ids}", status=status)
            check_true("size", len(told.body) < 5_000_000)
            view.ask("GET", f"{API}flame?{window}&min=0&order=time", status=status)
            view.ask("GET", f"{API}heatmap?{window}&bins={far}&top={far}&rows=file", status=status)
        many = ",".join(str(number) for number in range(513))
        view.ask("GET", f"{API}timeline?tracks={many}", status=400)
        view.ask("GET", f"{API}timeline?tracks={','.join(['1'] * 512)}")
        check_true("memory", memory_of(view.process.pid) < 1_000_000_000)


def hang_up(view: View, path: str) -> None:
    """Asks, and goes before the answer."""
    with contextlib.closing(socket.create_connection((HOST, view.port), timeout=60)) as line:
        head = f"GET {path} HTTP/1.1\r\nHost: {HOST}:{view.port}\r\nAuthorization: Bearer {view.token}\r\n\r\n"
        line.sendall(head.encode())


def test_view_many_at_once(box: Box) -> None:
    """Twenty clients at once, some of whom hang up: everybody who stays is answered, and threads do not grow."""
    box.record(sys.executable, "-c", PROGRAM)
    with viewing(box) as view:
        ids = ",".join(str(track["id"]) for track in tracks_of(view))
        paths = [
            f"{API}timeline?width=2000&flows=1&tracks={ids}",
            f"{API}flame?weight=time",
            f"{API}flame?weight=calls&where=" + quote("dur > 1000"),
            f"{API}heatmap?rows=file",
            f"{API}report/overview",
            f"{API}tracks?layers=posix",
            f"{API}export?format=chrome",
        ]
        before = threads_of(view.process.pid)
        leaver = threading.Thread(target=lambda: [hang_up(view, path) for path in paths * 3])
        leaver.start()

        def asked(number: int) -> tuple[int, bytes]:
            for _ in range(300):
                answer = view.bare("GET", paths[number % len(paths)], Authorization=f"Bearer {view.token}")
                if answer.status != 503:
                    break
                check("when to ask again", "1", answer.headers["Retry-After"])
                time.sleep(0.3)
            return answer.status, answer.body[:200]

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(asked, range(40)))
        leaver.join()
        for status, body in answers:
            check_true(f"{status} {body!r}", status == 200)
        grown = threads_of(view.process.pid) - before
        check_true(f"threads grew by {grown}", grown < 100)
        view.ask("GET", f"{API}page")


def test_view_recording_goes(box: Box) -> None:
    """A recording that is deleted, or made a link to something else, while it is served."""
    box.record("cat", "/etc/hostname")
    other = box.dir / "other.fathom"
    shutil.copytree(box.trace, other)
    secret = box.dir / "secret"
    secret.mkdir()
    (secret / "manifest.json").write_text('{"secret": "pass-word"}')
    with viewing(box, box.trace, other) as view:
        tracks_of(view)
        count = "SELECT count(*) FROM events"
        name = next(one["id"] for one in view.ask("GET", f"{API}page").json["recordings"] if "other" in one["id"])
        wanted = view.rows(count, name)
        shutil.rmtree(other)
        for path in (
            "tracks",
            "timeline?tracks=1",
            "flame",
            "heatmap",
            "report/overview",
            "export?format=csv",
            "schema",
        ):
            given = f"{API}{path}{'&' if '?' in path else '?'}recording={name}"
            answer = view.bare("GET", given, Authorization=f"Bearer {view.token}")
            check_true(f"{given}: {answer.status} {answer.body[:200]!r}", answer.status in (200, 404, 500, 503))
        other.symlink_to(secret)
        for path in (
            "page",
            *(f"{route}recording={name}" for route in ("report/overview?", "tracks?", "export?format=csv&")),
        ):
            answer = view.bare("GET", API + path, Authorization=f"Bearer {view.token}")
            check_true(f"{path} tells no secret", b"pass-word" not in answer.body)
        other.unlink()
        shutil.copytree(box.trace, other)
        check("it is back", wanted, view.rows(count, name))
        view.ask("GET", f"{API}page")


def test_view_restarted_has_another_token(box: Box) -> None:
    """Who comes with what the last one gave is told what to do, by every route."""
    box.record("cat", "/etc/hostname")
    first = View(box, box.trace)
    cookie, token, port = first.log_in(), first.token, first.port
    first.stop()
    with viewing(box, box.trace, "--listen", f"{HOST}:{port}") as view:
        check("the same port", port, view.port)
        for path in ("page", "tracks", "timeline?tracks=1", "changes"):
            for headers in ({"Cookie": cookie, "Fathom-Key": first.key}, {"Authorization": f"Bearer {token}"}):
                answer = view.bare("GET", API + path, **headers)
                check(f"status of {path}", 401, answer.status)
                check_true(f"words: {answer.body!r}", b"address" in answer.body or b"token" in answer.body)
        door = view.bare("GET", "/", Cookie=cookie)
        check("the door", 401, door.status)
        check_true("what to do", b"address" in door.body)
        view.ask("GET", f"{API}page")

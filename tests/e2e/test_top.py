# SPDX-License-Identifier: MIT
"""`fathom top`: a recording that is being made and a server, on a terminal and as plain tables."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kit import Box, Failure, Process, check, check_true
from test_jobs import home
from test_server import JOBS, Server, batch

ENTERS, LEAVES = b"\x1b[?1049h", b"\x1b[?1049l"
WAIT_S = 60
# Reads so often, says so, and waits until it is told to end, now and then reading again.
READS = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char byte;
  int file = open("/dev/zero", O_RDONLY);
  for (long i = 0; i < atol(argv[1]); i++) pread(file, &byte, 1, i);
  close(creat(argv[2], 0600));
  while (access(argv[3], F_OK) != 0) usleep(20000);
  return 0;
}
"""


def waited(what: str, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            raise Failure(f"not within {WAIT_S} s: {what}")
        time.sleep(0.05)


def reads(box: Box, name: str = "") -> Path:
    source = box.root / "reads.c"
    source.write_text(READS)
    program = box.kit.made("reads", "cc", "-O1", "-w", source)
    return Path(shutil.copy(program, box.root / name)) if name else program


@contextlib.contextmanager
def recording(box: Box, count: int, name: str = "") -> Iterator[Path]:
    """A recording of a program that has read so often and goes on until the end of this."""
    trace, ready, go = box.dir / "r.fathom", box.root / "ready", box.root / "go"
    process = box.start(box.kit.fathom, "run", "-q", "-o", trace, "--", reads(box, name), count, ready, go)
    try:
        waited("the program has read", ready.exists)
        yield trace
    finally:
        go.touch()
        box.finish(process)


def top(box: Box, *words: object, status: int = 0) -> tuple[bytes, bytes]:
    return box.finish(box.start(box.kit.fathom, "top", *words, env=home(box)), status)


def told(box: Box, *words: object) -> Any:
    return json.loads(top(box, *words, "--format", "json")[0])


def preads(page: Any) -> int:
    return sum(row["total_calls"] for row in page["calls"] if row["call"] == "pread")


def over(trace: Path) -> str:
    return f"{trace} has ended; 'fathom report {trace}' shows what it recorded"


def test_top_tells_what_is_recorded(box: Box) -> None:
    """Every call of a program that runs, exactly, whatever of it is packed; its name steers nothing; and its end."""
    count = 3_000_000 if box.kit.full else 400_000
    with recording(box, count, "evil\x1b[31mname") as trace:
        page = told(box, trace, "--once")
        check("reads", count, preads(page))
        row = next(row for row in page["processes"] if "evil" in row["program"])
        check("the program", "evil\x1b[31mname", row["program"])
        check("lost", 0, page["now"][0]["lost"])
        out, _ = top(box, "--once", "--interval", "0.2s")  # the one of this directory
        check_true(f"a title ({out[:80]!r})", out.startswith(b"r.fathom: "))
        check_true("no character steers the display", b"\x1b" not in out and b"evil\\x1b[31mname" in out)
        for table in (b"Processes", b"Hot functions", b"Calls", b"Waits"):
            check_true(f"{table!r} in {out!r}", b"\n" + table + b"\n" in out)
        pages, _ = top(box, trace, "--iterations", 2, "--interval", "0.2s", "--format", "csv")
        check("pages", 2, pages.count(b"# Processes"))
    check("the end", f"{over(trace)}\n", top(box, trace)[0].decode())
    box.trace = trace
    check("reads of the recording", count, box.count("name = 'pread'"))


def test_top_ends_with_the_recording(box: Box) -> None:
    """In a pipe it prints until the recording ends, then says what to type, with status 0."""
    with recording(box, 10) as trace:
        process = box.start(box.kit.fathom, "top", trace, "--interval", "0.2s", env=home(box))
        line = process.stdout.readline() if process.stdout else b""
        check_true(f"a page ({line!r})", line.startswith(str(trace).encode()))
    out, err = box.finish(process)
    check("the last line", over(trace), out.decode().splitlines()[-1])
    check("stderr", b"", err)


def test_top_with_nothing_to_watch(box: Box) -> None:
    """One line that says what to type."""
    out, err = top(box, status=3)
    check_true(f"one line ({err!r})", out == b"" and err.count(b"\n") == 1 and b"fathom run -- COMMAND" in err)
    for words, status in (
        (("/nonexistent",), 3),
        (("x", "--server", "http://127.0.0.1:1"), 2),
        (("--server", "http://127.0.0.1:1"), 3),
        (("--interval", "0"), 2),
        (("--iterations", "0"), 2),
        (("--rows", "0"), 2),
    ):
        out, err = top(box, *words, status=status)
        check_true(f"one line for {words!r} ({err!r})", out == b"" and err.count(b"\n") == 1)


class Terminal:
    """`fathom top` on a terminal of its own."""

    def __init__(self, box: Box, *words: object, rows: int = 30, columns: int = 100, **env: str) -> None:
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:  # pragma: no cover
            os.chdir(box.dir)
            os.environ.update({**home(box), "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "", **env})
            os.execv(box.kit.fathom, ["fathom", "top", "--interval", "0.3s", *map(str, words)])
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.fd)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float = 0.1) -> None:
        if select.select([self.fd], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                self.output += os.read(self.fd, 65536)

    def screen(self) -> str:
        """What was drawn last, whole."""
        whole = self.output.split(b"\x1b[J")[:-1]
        last = whole[-1].rpartition(b"\x1b[H")[2] if whole else b""
        return re.sub(r"\x1b\[[0-9;]*[mK]", "", last.decode()).replace("\r\n", "\n")

    def shows(self, text: str, not_text: str | None = None) -> str:
        """The screen, once it has this text and, where given, not that one."""
        end = time.monotonic() + WAIT_S
        while text not in self.screen() or (not_text is not None and not_text in self.screen()):
            if time.monotonic() > end:
                raise Failure(f"no {text!r} (without {not_text!r}) within {WAIT_S} s on {self.screen()!r}")
            self.read()
        return self.screen()

    def press(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def ended(self, flags: int = 0) -> int:
        """Its status, as wait tells it; everything that it wrote was read."""
        end = time.monotonic() + WAIT_S
        while True:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG | flags)
            if pid != 0:
                self.read()
                return status
            if time.monotonic() > end:
                raise Failure(f"no end within {WAIT_S} s; the screen is {self.screen()!r}")

    def check_restored(self) -> None:
        check("screens entered and left", self.output.count(ENTERS), self.output.count(LEAVES))
        check_true("the cursor is back", self.output.rindex(b"\x1b[?25h") > self.output.rindex(b"\x1b[?25l"))
        with contextlib.suppress(termios.error):
            check("settings of the terminal", self.before, termios.tcgetattr(self.fd))


def test_top_on_a_terminal(box: Box) -> None:
    """Redrawn in place, with keys to move, to go into a process and back, to sort, to pause, for help; q leaves all
    as it was."""
    with recording(box, 1000) as trace:
        shown = Terminal(box, trace)
        shown.shows("* Processes")
        check_true("the alternate screen", shown.output.startswith(ENTERS))
        page = shown.shows("reads")
        check_true(f"the calls ({page!r})", "pread" in page)
        row = next(line for line in page.splitlines() if line.startswith("> "))
        pid = re.split(r"\s+", row)[1]
        shown.press(b"\r")
        inside = shown.shows(f"process {pid}: ")
        check_true(f"its threads ({inside!r})", "Threads in calls" in inside and "Processes" not in inside)
        shown.press(b"\x1b")
        shown.shows("* Processes")
        shown.press(b"s")
        shown.shows("* Processes by pid")
        shown.press(b"\x1b[C\t")
        shown.shows("* Hot functions", "* Processes")
        shown.press(b"?")
        shown.shows("Esc goes back")
        shown.press(b"xp")
        shown.shows("paused")
        drawn = shown.screen().splitlines()[0]
        time.sleep(1)
        shown.read()
        check("the title while it is paused", drawn, shown.screen().splitlines()[0])
        shown.press(b"p")
        shown.shows("q quit", "paused")
        shown.press(b"q")
        check("status", 0, shown.ended())
        shown.check_restored()


def test_top_fits_the_terminal(box: Box) -> None:
    """Another size is drawn anew, narrow ones too; without colours and UTF-8 there are none."""
    with recording(box, 1000, "größe") as trace:
        shown = Terminal(box, trace, NO_COLOR="1", LC_ALL="C")
        page = shown.shows("gr??e")
        check_true("colours", b"\x1b[1" not in shown.output and b"\x1b[7" not in shown.output)
        check_true("ASCII", all(byte < 128 for byte in shown.output))
        for rows, columns in ((10, 40), (3, 12), (1, 1), (40, 160)):
            shown.resize(rows, columns)
            os.kill(shown.pid, signal.SIGWINCH)
            size = lambda: (len(shown.screen().splitlines()), max(map(len, shown.screen().splitlines())))  # noqa: E731
            end = time.monotonic() + WAIT_S
            while not (size()[0] <= rows and size()[1] <= columns) or (rows == 40 and size()[0] < 30):
                if time.monotonic() > end:
                    raise Failure(f"{size()} on a terminal of {rows} x {columns}: {shown.screen()!r}")
                shown.read()
        check_true("it was larger before", len(page.splitlines()) == 30)
        shown.press(b"q")
        check("status", 0, shown.ended())
        shown.check_restored()


def test_top_gives_the_terminal_back(box: Box) -> None:
    """On signals that end it, on a crash, while it is stopped, and when the recording ends."""
    with recording(box, 10) as trace:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT):
            shown = Terminal(box, trace)
            shown.shows("* Processes")
            os.kill(shown.pid, number)
            check(f"ended by {number!r}", number, os.WTERMSIG(shown.ended()))
            shown.check_restored()
        shown = Terminal(box, trace)
        shown.shows("* Processes")
        shown.press(b"\x1a")  # Ctrl-Z
        check_true("stopped", os.WIFSTOPPED(shown.ended(os.WUNTRACED)))
        shown.check_restored()
        drawn = shown.output.count(b"\x1b[J")
        os.kill(shown.pid, signal.SIGCONT)
        waited("drawn again", lambda: shown.read() or shown.output.count(b"\x1b[J") > drawn)
        check("screens entered", 2, shown.output.count(ENTERS))
    check("status at the end of the recording", 0, shown.ended())
    shown.check_restored()
    check("what it says", over(trace), shown.output.rpartition(LEAVES)[2].decode().strip())


@contextlib.contextmanager
def sending(server: Server, clients: int) -> Iterator[None]:
    """So many clients, each of which sends the same batch ten times a second."""
    stop = threading.Event()

    def send(name: str) -> None:
        seq = 0
        while not stop.wait(0.1):
            seq += 1
            server.told("POST", f"{JOBS}/job/profile", batch(name, seq, **{"hot\x1b[31m": 100, "cold": 1}))

    threads = [threading.Thread(target=send, args=(f"agent-{n}",)) for n in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def started(box: Box, server: Server, *words: object) -> Process:
    return box.start(box.kit.fathom, "top", *words, env=server.env)


def test_top_of_a_server(box: Box) -> None:
    """Jobs, agents and sums as they arrive, found by itself or by its URL; a stranger is refused."""
    server = Server(box)
    server.told("POST", JOBS, {"name": "job", "info": "x"}, 201)
    server.told("POST", JOBS, {"name": "idle", "info": ""}, 201)
    url = f"http://127.0.0.1:{server.port}"
    with sending(server, 3):
        out, _ = box.finish(started(box, server, "--server", url, "--iterations", 4, "--format", "json"))
        decoder, text, pages = json.JSONDecoder(), out.decode(), []
        while text.strip():
            page, end = decoder.raw_decode(text.lstrip())
            pages.append(page)
            text = text.lstrip()[end:]
        check("pages", 4, len(pages))
        last = pages[-1]
        check("jobs", ["job", "idle"], [row["job"] for row in last["jobs"]])
        check_true(f"rates ({last['jobs']!r})", last["jobs"][0]["rows"] > 0 and last["jobs"][1]["rows"] == 0)
        check("agents", [f"agent-{n}" for n in range(3)], sorted(row["agent"] for row in last["agents"]))
        hot = last["hot_functions"][0]
        check_true(f"the hottest ({hot!r})", hot["function"] == "hot\x1b[31m" and hot["count"] > 0 and hot["rate"] > 0)
        shown = Terminal(box, **server.env)  # its own server
        shown.shows("agent-2")
        check_true("names steer nothing", b"\x1b[31m" not in shown.output and "hot\\x1b[31m" in shown.screen())
        shown.press(b"\r")
        shown.shows("job job: x", "Jobs")
        shown.press(b"q")
        check("status", 0, shown.ended())
        shown.check_restored()
    out, err = box.finish(started(box, server, "--server", f"http://localhost:{server.port}", "--once"))
    check_true(f"by another name ({err!r})", b"2 jobs" in out)
    (box.root / "token").write_text("wrong\n")
    (box.root / "token").chmod(0o600)
    _, err = box.finish(started(box, server, "--server", url, "--token-file", box.root / "token"), 3)
    check_true(f"refused in one line ({err!r})", err.count(b"\n") == 1)
    server.stop()

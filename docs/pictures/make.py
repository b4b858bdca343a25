#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Makes the pictures of README.md out of a real recording of the demo.

usage: docs/pictures/make.py [-o FOLDER] [terminal] [page]   (FATHOM_BUILD names another build folder)

terminal.svg: what the commands print, with the colours of a terminal. page.png: the page of
`fathom export --format html` in headless Chromium (Debian package chromium).
Without a name both are made; FOLDER is the one of this script.
"""

import argparse
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from fcntl import ioctl
from html import escape
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Callable, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
BUILD = Path(os.environ.get("FATHOM_BUILD", TOP / "build")).resolve()
DEMO = ["./survey", "tiles", "60"]

COLUMNS = 116
NO_BREAK = "\u00a0"
CELL, LINE, MARGIN = 8.4, 18, 16  # px: a character of 14 px, a line, and around all
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm-256color"}  # the page shows some of it
COLOURS = {"": "#d4d7dd", "1": "#ffffff", "2": "#8b919c", "1;36": "#5fd7e5", "prompt": "#87d787"}
PAGE_SIZE = (1120, 790)

Span = Tuple[str, str]  # text and style, which is a key of COLOURS


def fathom(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    command = [str(BUILD / "fathom"), *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, cwd=cwd, text=True, check=True, env=ENVIRONMENT, **pipes)


def record(folder: Path) -> str:
    """What `fathom run` says; the recording is survey.fathom."""
    source, target = TOP / "demo" / "survey.c", folder / "survey"
    subprocess.run(["cc", "-O2", f"-I{TOP / 'include'}", source, "-o", target, "-lm"], check=True)
    return fathom("run", "-o", "survey.fathom", "--", *DEMO, cwd=folder).stdout


def on_terminal(command: List[str], cwd: Path) -> str:
    """What a command prints on a terminal of COLUMNS."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=ENVIRONMENT) as program:
        os.close(theirs)
        said = bytearray()
        try:
            while more := os.read(ours, 65536):
                said += more
        except OSError:
            pass  # the other side is closed: that is how a terminal ends
        os.close(ours)
    if program.returncode != 0:
        sys.exit(f"make.py: {' '.join(command)}: exit {program.returncode}")
    return said.decode().replace("\r\n", "\n")


def spans_of(line: str) -> List[Span]:
    """A line in parts of one style each, without what was erased again, as progress lines are."""
    parts = re.split(r"\x1b\[([0-9;]*)m", re.split(r"\r|\x1b\[K", line)[-1])
    styles = ["", *("" if style == "0" else style for style in parts[1::2])]
    return [(text, style) for text, style in zip(parts[0::2], styles) if text]


def svg_line(number: int, spans: List[Span]) -> str:
    """textLength keeps the columns whatever font the reader has. Spaces that do not break keep them, too: browsers draw
    several ordinary ones as one."""
    texts, column = [], 0
    for text, style in spans:
        bold = ' font-weight="bold"' if style in ("1", "1;36", "prompt") else ""
        x, width = MARGIN + column * CELL, len(text) * CELL
        colour = COLOURS.get(style, COLOURS[""])
        place = f'x="{x:.1f}" y="{MARGIN + (number + 1) * LINE - 5}" textLength="{width:.1f}"'
        texts.append(f'<text {place} fill="{colour}"{bold}>{escape(text).replace(" ", NO_BREAK)}</text>')
        column += len(text)
    return "".join(texts)


def svg(lines: List[List[Span]]) -> str:
    longest = max(sum(len(text) for text, _ in line) for line in lines)
    width, height = 2 * MARGIN + longest * CELL, 2 * MARGIN + len(lines) * LINE
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
    font = 'font-family="\'DejaVu Sans Mono\',Menlo,Consolas,monospace" font-size="14">'
    ground = '<rect width="100%" height="100%" rx="8" fill="#1d2026"/>'
    drawn = "\n".join(svg_line(number, line) for number, line in enumerate(lines) if line)
    return f'{head}height="{height}" {font}\n{ground}\n{drawn}\n</svg>\n'


def make_terminal(folder: Path, said: str, target: Path) -> None:
    lines: List[List[Span]] = [[("$ fathom run -o survey.fathom -- " + " ".join(DEMO), "prompt")]]
    lines += [spans_of(line) for line in said.rstrip().splitlines()]
    report = on_terminal([str(BUILD / "fathom"), "report", "survey.fathom"], folder)
    words_and_advice = "\n\n".join(report.split("\n\n")[:2])
    lines += [[], [("$ fathom report survey.fathom", "prompt")]]
    lines += [spans_of(line) for line in words_and_advice.splitlines()]
    lines += [[], [("…", "2")]]
    target.write_text(svg(lines))


def make_page(folder: Path, said: str, target: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("make.py: page.png needs Chromium: apt-get install chromium")
    fathom("export", "survey.fathom", "--format", "html", "-o", "report.html", cwd=folder)
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    words += [f"--user-data-dir={folder / 'browser'}", "--window-size={},{}".format(*PAGE_SIZE)]
    words += ["--virtual-time-budget=10000"]  # until its script has drawn it
    words += [f"--screenshot={target}", (folder / "report.html").as_uri()]
    subprocess.run([chromium, *words], check=True, capture_output=True, timeout=120)


PICTURES: Dict[str, Tuple[str, Callable[[Path, str, Path], None]]] = {
    "terminal": ("terminal.svg", make_terminal),
    "page": ("page.png", make_page),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="FOLDER", type=Path, default=HERE)
    parser.add_argument("which", nargs="*", metavar="terminal|page")
    options = parser.parse_args()
    if unknown := set(options.which) - set(PICTURES):
        parser.error(f"no picture is called {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="survey-") as name:
        folder = Path(name)
        said = record(folder)
        for which in options.which or PICTURES:
            file, make = PICTURES[which]
            make(folder, said, options.o.resolve() / file)
            print(f"{options.o / file}: {(options.o / file).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

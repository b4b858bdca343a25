# SPDX-License-Identifier: MIT
"""What the tests of formats share: running programs, environments with other people's packages, a recording of ours."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from jobs import only_one  # noqa: E402
from questions import apart, together  # noqa: E402

TOP = HERE.parent.parent
CACHE = TOP / ".cache" / "formats"
BUILD = Path(os.environ.get("FATHOM_BUILD", TOP / "build")).resolve()
FATHOM = BUILD / "fathom"
SPEEDSCOPE = "1.25.0"  # of npm: its schema, and its importer


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def expect(what: str, wanted: Any, got: Any) -> None:
    if wanted != got:
        left, right = str(wanted), str(got)
        same = next((at for at, (a, b) in enumerate(zip(left, right)) if a != b), 0)
        begin = max(0, same - 150)  # of long ones, where they part
        raise Failure(f"{what}: expected {left[begin : begin + 300]} got {right[begin : begin + 300]}")


def ran(*command: Any, env: Optional[Dict[str, str]] = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **(env or {})},
        check=False,
    )
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}: exit {done.returncode}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout


def environment(name: str, requirements: str, *options: str) -> Path:
    """The bin folder of a virtual environment with these packages, made when it is missing. `options` are pip's."""
    folder = CACHE / name
    wanted = (HERE / requirements).read_text()
    stamp = folder / "installed.txt"
    with only_one(folder):
        if not stamp.exists() or stamp.read_text() != wanted:
            install(folder, requirements, *options)
            stamp.write_text(wanted)
    return folder / "bin"


def install(folder: Path, requirements: str, *options: str) -> None:
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
    pip = [folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", *options, "-r", HERE / requirements]
    if made.returncode == 0:
        made = subprocess.run(pip, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        said = made.stderr.strip() or "no venv"
        raise Skip(f"{requirements} cannot be installed: {said.splitlines()[-1]}")


def npm_package(name: str, version: str) -> Path:
    """The folder of a package of npm, fetched when it is missing."""
    folder = CACHE / "npm"
    package = folder / "node_modules" / name
    with only_one(folder):
        description = package / "package.json"
        if not description.exists() or json.loads(description.read_text())["version"] != version:
            fetch_from_npm(folder, f"{name}@{version}")
    return package


def fetch_from_npm(folder: Path, what: str) -> None:
    if shutil.which("npm") is None:
        raise Skip("npm is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    done = subprocess.run([*words, what], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skip(f"{what.replace('@', ' ')} cannot be installed from npm")


def chromium() -> str:
    program = shutil.which("chromium")
    if program is None:
        raise Skip("Chromium is not installed")
    return program


def page_in_browser(url: str, *options: str) -> Tuple[str, str]:
    """The page as it is when its scripts have run, and what the browser said."""
    words = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    words += ["--allow-file-access-from-files", "--enable-logging=stderr", "--virtual-time-budget=10000"]
    done = subprocess.run(
        [chromium(), *words, *options, "--dump-dom", url], capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        raise Failure(f"Chromium: exit {done.returncode}: {done.stderr[-300:]}")
    return done.stdout, done.stderr


def data_of_page(path: Path) -> Dict[str, Any]:
    """What the page of `export --format html` holds: `answers` by what was asked, `statements`, `timeline`."""
    found = re.findall(r'<script type="application/json" id="fathom-data">([^<]*)</script>', path.read_text())
    if len(found) != 1:
        raise Failure(f"{path.name} has {len(found)} elements of data")
    data = json.loads(found[0])
    data["answers"] = {each["asked"]: each["answer"] for each in data["answers"]}
    return data


def rows(trace: Path, sql: str) -> List[Dict[str, Any]]:
    return json.loads(ran(FATHOM, "sql", trace, sql, "--format", "json"))


def answers(trace: Path, *questions: str) -> List[List[Dict[str, Any]]]:
    """The rows of each, asked at once."""
    return apart(rows(trace, together(questions))[0])


def column(answer: List[Dict[str, Any]]) -> List[Any]:
    """The first of a question's columns."""
    return [next(iter(row.values())) for row in answer]


def exported(root: Path, form: str, name: str) -> Tuple[Path, Path]:
    """A recording of ours, exported. The program is a shell that copies a file."""
    if not (BUILD / "libfathom.so").exists():
        raise Failure(f"{BUILD}/libfathom.so is missing; run ./dev build")
    trace, out = root / "own.fathom", root / name
    if not trace.exists():
        text = "for i in 1 2 3 4 5; do cp /etc/passwd $0/copy-$i; done"
        ran(FATHOM, "run", "-q", "--sample", "0", "-o", trace, "--", "sh", "-c", text, root)
    ran(FATHOM, "export", trace, "--format", form, "-o", out)
    return trace, out


def count(trace: Path) -> int:
    return rows(trace, "SELECT count(*) AS n FROM events")[0]["n"]

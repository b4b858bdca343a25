# SPDX-License-Identifier: MIT
"""Recordings on a server, opened by the package."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import fathom
from kit import FATHOM, Skip, expect
from test_results import BY_NAME, refused
from world import invented


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """A server whose user is this process, as far as homes and tokens go."""
    before = dict(os.environ)
    home = root / "home"
    home.mkdir()
    os.environ.update(HOME=str(home), XDG_RUNTIME_DIR="", XDG_CACHE_HOME="", XDG_DATA_HOME="")
    command = [str(FATHOM), "server", "--listen", "127.0.0.1:0", "--data", str(root / "data")]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        if not line.startswith("ready "):
            raise Skip("built without the fleet")
        yield line.split()[1]
    finally:
        server.terminate()
        server.wait()
        os.environ.clear()
        os.environ.update(before)


def test_a_server_s_recording_is_as_one_here(root: Path) -> None:
    near = invented(root, 1)
    with serving(root) as url:
        added = subprocess.run([str(FATHOM), "job", "add-recording", str(near), "run"], check=True, capture_output=True)
        expect("its word", f"{url}/recordings/run\n", added.stdout.decode())
        with fathom.open(near) as here, fathom.open(f"{url}/recordings/run") as far:
            expect("rows", here.sql(BY_NAME).rows(), far.sql(BY_NAME).rows())
            expect("a report", str(here.report("files")), str(far.report("files")))
            expect("a part", str(here.report("files", layers="posix")), str(far.report("files", layers="posix")))
            expect("files are not here", "unsupported", refused(far.parquet, "events").code)
        with fathom.open([near, f"{url}/recordings/run"]) as both:
            expect("both", 2 * here_count(near), both.sql("SELECT count(*) FROM events").rows()[0][0])
        expect("no such", "not_found", refused(fathom.open, f"{url}/recordings/ghost").code)
        os.environ["FATHOM_TOKEN"] = "0" * 64
        error = refused(fathom.open, f"{url}/recordings/run")
        expect("a stranger", ("denied", True), (error.code, "FATHOM_TOKEN" in error.hint))
    expect("away", "unavailable", refused(fathom.open, f"{url}/recordings/run").code)


def here_count(near: Path) -> int:
    with fathom.open(near) as recording:
        return recording.sql("SELECT count(*) FROM events").rows()[0][0]

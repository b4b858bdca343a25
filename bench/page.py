# SPDX-License-Identifier: MIT
"""The page over a recording of 100 M events: what its timeline takes to show it, and what a frame takes while somebody
pans and zooms through it, as the browser measures it (tests/page/pan.mjs). And over 1 M events beside speedscope."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from big import EVENTS, record
from jobs import TOP, Bench
from row import Row, Sample, Samples, judged

FRAME_MS = 16.7  # of a screen that shows 60 a second
PEER_EVENTS = 1_000_000  # as many as speedscope opens in a time that somebody waits
PEER = "speedscope (WebGL in software)"


def environment(bench: Bench) -> dict[str, str]:
    """What tests/page/kit.mjs reads."""
    packages = TOP / ".cache/web/node_modules"
    chromium = shutil.which("chromium") or ""
    page = str(bench.build / "web/dist")
    return {**os.environ, "FATHOM_WEB_PACKAGES": str(packages), "FATHOM_CHROMIUM": chromium, "FATHOM_PAGE": page}


def panned(bench: Bench, trace: Path) -> Sample:
    """The page of a server that has just started."""
    command = [str(bench.build / "fathom"), "view", "--no-open", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = next(line.split()[1] for line in server.stdout if line.startswith("ready "))
        try:
            return measured(bench, [str(TOP / "tests/page/pan.mjs"), address])
        finally:
            server.terminate()


def measured(bench: Bench, words: list[str]) -> Sample:
    done = subprocess.run(["node", *words], env=environment(bench), check=True, capture_output=True, text=True)
    return {key: float(value) for key, value in json.loads(done.stdout).items()}


def with_speedscope(bench: Bench, trace: Path) -> Sample:
    """Both on the same events, one after the other."""
    profile = bench.folder / "profile.json"
    bench.run([str(bench.build / "fathom"), "export", str(trace), "--format", "speedscope", "-o", str(profile)])
    peer = measured(bench, [str(TOP / "bench/peers/speedscope.mjs"), str(profile)])
    profile.unlink()
    return {**panned(bench, trace), **{f"peer {key}": value for key, value in peer.items()}}


def row_page(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    fetched = subprocess.run([TOP / "tools/fetch_web.sh", "--bench"], capture_output=True, check=False).returncode == 0
    if not fetched or not shutil.which("chromium"):
        return [Row("the page's timeline", "-", "not measured: Chromium or the page's packages are missing")]
    rows = []
    for events, measure in ((EVENTS, panned), (PEER_EVENTS, with_speedscope)):
        trace, made = record(bench, events)
        progress()
        taken = []
        for _ in range(min(rounds, 3)):
            taken.append(measure(bench, trace))
            progress()
        shutil.rmtree(trace)
        rows += rows_of(Samples(taken), made)
    return rows


def rows_of(samples: Samples, made: int) -> list[Row]:
    def row(what: str, key: str, good_enough: float, goal: float, floor: str = "-") -> Row:
        value, peer = samples.median(key), samples.median(f"peer {key}")
        words = "not measured" if value is None else f"{value:.1f} ms"
        beside = "" if peer is None else f"{PEER} {peer:.1f} ms"
        limits = [f"{limit:g} ms" for limit in (good_enough, goal)]
        name = f"page, {made / 1e6:.0f} M events: {what}"
        return Row(name, floor, words, "", beside, *limits, judged(value, good_enough, goal))

    frame = f"{FRAME_MS} ms: 60 Hz"
    return [
        row("first picture of the timeline", "first_paint_ms", 3000, 1000),
        row("all detail of the timeline", "indexed_ms", 120_000, 30_000),
        row("a frame while panning and zooming, p95", "gap_p95_ms", 2 * FRAME_MS + 0.1, FRAME_MS + 0.1, frame),
        row("drawing a frame, p95", "draw_p95_ms", FRAME_MS, FRAME_MS / 2),
        row("longest task that blocks", "longest_task_ms", 100, 50),
        row("longest task that blocks while views are opened", "longest_of_views_ms", 100, 50),
    ]

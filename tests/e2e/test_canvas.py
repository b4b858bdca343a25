# SPDX-License-Identifier: MIT
"""What the page draws is what SQL says: real recordings, asked as the page asks."""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kit import Box, check, check_true
from test_view import View, viewing

# Threads that call each other, files that are read, a child.
PROGRAM = """
import json, subprocess, threading
def turn(number):
    name = f"data-{number}"
    for size in range(60):
        with open(name, "w") as out: out.write("x" * 100 * size)
        with open(name) as back: json.dumps(back.read())
threads = [threading.Thread(target=turn, args=(number,)) for number in range(3)]
for one in threads: one.start()
for one in threads: one.join()
subprocess.run(["cat", "data-0"], stdout=subprocess.DEVNULL)
"""
API = "/api/v1/"
TOUCHES = "ts < {1} AND (ts >= {0} OR ts + dur > {0})"


def asked(view: View, what: str) -> Any:
    return view.ask("GET", API + what).json


def tracks_of(view: View) -> list[dict[str, Any]]:
    """Once the index is there."""
    for _ in range(600):
        answer = asked(view, "tracks")
        if "building" not in answer:
            return list(answer["tracks"])
        time.sleep(0.1)
    raise AssertionError("the index is never ready")


def check_window(view: View, tracks: list[dict[str, Any]], begin: int, end: int, width: int) -> None:
    ids = ",".join(str(track["id"]) for track in tracks)
    answer = asked(view, f"timeline?from={begin}&to={end}&width={width}&tracks={ids}")
    check_true("the window holds what was asked for", answer["from"] <= begin and answer["to"] >= end)
    touches = TOUCHES.format(answer["from"], answer["to"])
    for track in answer["tracks"]:
        last: dict[int, int] = {}
        for depth, start, dur in zip(track["depth"], track["start"], track["dur"], strict=True):
            check_true("boxes do not overlap", start >= last.get(depth, start))
            last[depth] = start + dur
    count = sum(sum(track["count"]) for track in answer["tracks"])
    busy = sum(sum(track["busy"]) for track in answer["tracks"])
    wanted = view.rows(f"SELECT count(*), CAST(coalesce(sum(dur), 0) AS BIGINT) FROM events WHERE {touches}")[0]
    check(f"events and time of {begin} to {end}", wanted, [count, busy])


def check_singles(view: View, tracks: list[dict[str, Any]], wall: int) -> None:
    """Zoomed in as far as possible, each thread's boxes are its events."""
    for track in tracks[:4]:
        if track["kind"] != "thread":
            continue
        answer = asked(view, f"timeline?from=0&to={wall}&width=16384&tracks={track['id']}")
        boxes, names = answer["tracks"][0], answer["names"]
        columns = (boxes[name] for name in ("depth", "start", "dur", "name", "layer", "count"))
        drawn = {
            (depth, start + answer["from"], dur, names[name], names[layer])
            for depth, start, dur, name, layer, count in zip(*columns, strict=True)
            if count == 1
        }
        rows = view.rows(f"SELECT depth, ts, dur, name, layer FROM events WHERE tid = {track['tid']}")
        check_true("single boxes", drawn and not drawn - {tuple(row) for row in rows})


def test_canvas_is_what_sql_says(box: Box) -> None:
    """Every event of any window is in exactly one box, at its own times; flames and maps have SQL's sums."""
    box.record(sys.executable, "-c", PROGRAM, options=("--layers", "+python"))
    dice = random.Random(4)
    with viewing(box) as view:
        every = tracks_of(view)
        ids = [track["id"] for track in every]
        check("ids", len(ids), len(set(ids)))
        tracks = [track for track in every if track["events"] and track["kind"] in ("thread", "layer", "stream")]
        wall = max(track["to"] for track in tracks)
        check_window(view, tracks, 0, wall, 1)
        check_window(view, tracks, 0, wall, 1920)
        for _ in range(6):
            span = max(wall >> dice.randrange(16), 10)
            begin = dice.randrange(wall)
            check_window(view, tracks, begin, begin + span, dice.randrange(1, 3000))
        check_singles(view, tracks, wall)
        own = view.rows("SELECT CAST(sum(self) AS BIGINT), count(*) FROM events")[0]
        check("flame of time", own[0], asked(view, "flame?weight=time&min=0")["total"])
        check("flame of calls", own[1], asked(view, "flame?weight=calls&invert=1")["total"])
        check_maps(view)
        row = next(
            row
            for track in (asked(view, f"timeline?width=16384&tracks={tracks[0]['id']}")["tracks"])
            for row in track["row"]
            if row >= 0
        )
        check_true("one event", asked(view, f"event?row={row}")["event"]["tid"] == tracks[0]["tid"])


def check_maps(view: View) -> None:
    heat = asked(view, "heatmap?rows=file&what=bytes&category=write&bins=30&top=2000")
    cells = sum(sum(row) for row in heat["cells"])
    of_files = "layer IN ('posix', 'stdio') AND category = 'write' AND file IS NOT NULL"
    check("heat map", view.rows(f"SELECT CAST(sum(bytes) AS BIGINT) FROM events WHERE {of_files}")[0][0], cells)
    name = view.rows("SELECT any_value(file) FROM events WHERE file LIKE '%data-0' AND layer = 'posix'")[0][0]
    places = asked(view, f"offsets?file={quote(name)}&bins=10&offset_bins=8")
    of_file = f"file = '{name}' AND category = 'write' AND layer IN ('posix', 'stdio') AND \"offset\" IS NOT NULL"
    wanted = view.rows(f"SELECT CAST(sum(bytes) AS BIGINT) FROM events WHERE {of_file}")[0][0]
    check("places in a file", wanted, sum(sum(row) for row in places["write"]))


def ready(view: View, what: str) -> Any:
    """Once the index of the part is there."""
    for _ in range(600):
        answer = view.bare("GET", API + what, Authorization=f"Bearer {view.token}")
        if answer.status != 503 and "building" not in answer.json:
            check(f"status of {what} ({answer.body[:200]!r})", 200, answer.status)
            return answer.json
        time.sleep(0.1)
    raise AssertionError(f"the index is never ready: {what}")


def test_canvas_of_a_selection(box: Box) -> None:
    """One selection means the same rows in every picture, in an export and in SQL."""
    box.record(sys.executable, "-c", PROGRAM)
    with viewing(box) as view:
        pid = view.rows("SELECT mode(pid) FROM events")[0][0]
        for given, where in (
            ("where=" + quote("name LIKE 'w%' AND bytes > 500"), "name LIKE 'w%' AND bytes > 500"),
            (f"name=wr*,open*&pid={pid}", f"(name GLOB 'wr*' OR name GLOB 'open*') AND pid = {pid}"),
            ("layers=posix&where=" + quote("category = 'read'"), "layer = 'posix' AND category = 'read'"),
        ):
            count, bytes_moved = view.rows(f"SELECT count(*), CAST(sum(bytes) AS BIGINT) FROM events WHERE {where}")[0]
            check_true(f"there are some: {where}", count > 0)
            check(f"flame of {given}", count, ready(view, f"flame?weight=calls&min=0&{given}")["total"])
            check(
                f"flame in time order of {given}", count, ready(view, f"flame?weight=calls&order=time&{given}")["total"]
            )
            tracks = ready(view, f"tracks?{given}")["tracks"]
            ids = ",".join(str(track["id"]) for track in tracks if track["kind"] in ("thread", "layer"))
            boxes = ready(view, f"timeline?width=100&tracks={ids}&{given}")["tracks"]
            check(f"boxes of {given}", count, sum(sum(track["count"]) for track in boxes))
            export = view.ask("GET", f"{API}export?format=csv&{given}").body.decode()
            check(f"rows of the export of {given}", count + 1, export.count("\n"))
            heat = asked(view, f"heatmap?rows=process&what=bytes&top=2000&{given}")
            check(f"heat map of {given}", bytes_moved or 0, sum(sum(row) for row in heat["cells"]))


def test_canvas_of_counts_on_regions(box: Box) -> None:
    """A flame graph by what regions counted: all of it is what the outermost regions have."""
    box.record(box.kit.victim("counted"), options=("--region-events", "page-faults,task-clock"))
    statements = json.loads((Path(__file__).parents[2] / "web/questions.json").read_text())["statements"]
    with viewing(box) as view:
        check("offered", [["page-faults"], ["task-clock"]], view.rows(statements["region_events"]))
        for event, unit in (("page-faults", "page-faults"), ("task-clock", "ns")):
            counted = f"(SELECT *, CAST(args['{event}'] AS BIGINT) AS n FROM events WHERE args['{event}'] IS NOT NULL)"
            around = "o.tid = c.tid AND o.depth < c.depth AND o.ts <= c.ts AND o.ts + o.dur >= c.ts + c.dur"
            outermost = f"NOT EXISTS (SELECT 1 FROM {counted} o WHERE {around})"
            total = view.rows(f"SELECT CAST(sum(n) AS BIGINT) FROM {counted} c WHERE {outermost}")[0][0]
            for order in ("&invert=0", "&invert=1", "&order=time"):
                flame = asked(view, f"flame?weight=region:{event}&min=0{order}")
                check(f"{event}, {order}", (total, unit), (flame["total"], flame["unit"]))
                check(f"own of {event}, {order}", total, sum(flame["nodes"]["self"]))
        refused = view.ask("GET", API + "flame?weight=region:cycles", status=404).json
        check_true(f"says what to record: {refused}", "--region-events cycles" in str(refused))


def test_canvas_of_sums(box: Box) -> None:
    """Calls that were only added up are on the timeline: as many as SQL says, in boxes that never overlap."""
    program = "x = [bytes(i % 3000) for i in range(100000)]"
    box.record(sys.executable, "-c", program, options=("--layers", "heap", "--interval", "10ms"))
    with viewing(box) as view:
        tracks = [track for track in tracks_of(view) if track.get("sums")]
        check_true("there are tracks", bool(tracks))
        ids = ",".join(str(track["id"]) for track in tracks)
        calls, end = view.rows("SELECT CAST(sum(calls) AS BIGINT), max(ts + width) FROM intervals")[0]
        check("calls of all tracks", calls, sum(track["events"] for track in tracks))
        for width in (1, 50, 5000):
            boxes = asked(view, f"timeline?from=0&to={end}&width={width}&tracks={ids}")["tracks"]
            check(f"calls in {width} pixels", calls, sum(sum(track["count"]) for track in boxes))
            for track in boxes:
                last: dict[int, int] = {}
                for depth, start, dur in zip(track["depth"], track["start"], track["dur"], strict=True):
                    check_true("boxes do not overlap", start >= last.get(depth, start))
                    last[depth] = start + dur


def test_canvas_names_a_thread_as_it_was_at_last(box: Box) -> None:
    """A process that becomes another program has one track of its thread, under the new name."""
    box.record("sh", "-c", "cat /etc/hostname; exec env cat /etc/hostname")
    with viewing(box) as view:
        (pid,) = (row[0] for row in view.rows("SELECT DISTINCT pid FROM processes WHERE name = 'env'"))
        names = {track["name"] for track in tracks_of(view) if track["kind"] == "thread" and track["pid"] == pid}
        check("names of the thread", {f"cat ({pid})"}, names)

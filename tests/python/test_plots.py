# SPDX-License-Identifier: MIT
"""Drawings, by the numbers that are in them."""

from pathlib import Path

import fathom
from kit import expect
from test_results import refused
from world import invented, need, small

SECOND = 1_000_000_000


def stairs_of(axes):
    return {patch.get_label(): patch.get_data() for patch in axes.patches}


def test_bandwidth_is_bytes_by_time(root: Path) -> None:
    need("matplotlib")
    with fathom.open(invented(root, 1)) as recording:
        drawn = stairs_of(recording.plot.bandwidth())
        expect("lines", {"posix read", "posix write"}, set(drawn))
        sql = "SELECT sum(bytes) FROM events WHERE category = ? AND ts >= ? AND ts < ?"
        for direction in ("read", "write"):
            data = drawn[f"posix {direction}"]
            edges = [round(edge * SECOND) for edge in data.edges]
            expect("until", 900_000_000, edges[-1])
            moved = [recording.sql(sql, direction, *around).value() or 0 for around in zip(edges, edges[1:])]
            widths = data.edges[1:] - data.edges[:-1]
            near = [abs(value * width - want) <= want * 1e-9 for value, width, want in zip(data.values, widths, moved)]
            expect("bytes in each stretch of time", [True] * len(moved), near)
            expect("not all is nothing", True, sum(moved) > 0)


def test_timeline_is_the_view(root: Path) -> None:
    need("matplotlib")
    with fathom.open(small(root)) as recording:
        drawn = stairs_of(recording.plot.timeline())
        for row in recording.report("timeline").dicts():
            expect(row["layer"], row["threads"], [float(value) for value in drawn[row["layer"]].values])


def test_sizes_are_counts(root: Path) -> None:
    need("matplotlib")
    with fathom.open(small(root)) as recording:
        axes = recording.plot.sizes()
        bars = {box.get_label(): [bar.get_height() for bar in box] for box in axes.containers}
        expect("bars", {"posix read": [1, 2, 1], "posix write": [1, 0, 0], "stdio write": [1, 0, 0]}, bars)
        expect("sizes", ["64 B", "4 KiB", "1 MiB"], [label.get_text() for label in axes.get_xticklabels()])
        expect("all", 6, sum(sum(heights) for heights in bars.values()))
        sql = "SELECT count(*) FROM events WHERE bytes IS NOT NULL"
        expect("as SQL says", recording.sql(sql).value(), sum(sum(heights) for heights in bars.values()))


def test_heatmap_has_a_row_for_each_file(root: Path) -> None:
    need("matplotlib")
    with fathom.open(invented(root, 1)) as recording:
        axes = recording.plot.heatmap(bins=8, top=3, value="calls", where="name <> 'fsync'")
        cells = axes.collections[0].get_array().reshape(-1, 8)
        sql = "SELECT file, count(*) FROM events WHERE name <> 'fsync' GROUP BY file ORDER BY 2 DESC, 1 LIMIT 3"
        wanted = recording.sql(sql).rows()
        expect("files", [row[0] for row in wanted], [label.get_text() for label in axes.get_yticklabels()])
        expect("calls", [row[1] for row in wanted], [int(row.sum()) for row in cells])
        sql = "SELECT count(*) FROM events WHERE name <> 'fsync' AND file = ? AND ts * 8 // 900000000 = 0"
        expect("a cell", recording.sql(sql, wanted[0][0]).value(), int(cells[0][0]))
        refused(recording.plot.heatmap, by="nonsense")


def test_nothing_recorded_is_drawn_empty(root: Path) -> None:
    need("matplotlib")
    from matplotlib import pyplot
    from world import imported

    with fathom.open(imported(root, "empty", "fathom recording 1\nrun host=a start=5 duration=100\n")) as recording:
        for draw in (recording.plot.bandwidth, recording.plot.timeline, recording.plot.sizes, recording.plot.heatmap):
            expect(draw.__name__, 0, len(draw().patches))
        axes = pyplot.figure().add_subplot()
        expect("into what is given", axes, recording.plot.sizes(ax=axes))
    pyplot.close("all")

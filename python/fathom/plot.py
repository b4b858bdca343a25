# SPDX-License-Identifier: MIT
"""Drawings of a recording, by matplotlib. Each method draws into `ax`, or into a new figure, and returns the Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from fathom._error import Error, missing_package
from fathom.query import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fathom.recording import Recording

_SECOND = 1e9  # in ns
_MEASURES = {"bytes": "coalesce(sum(bytes), 0)", "calls": "count(*)", "dur": "sum(dur)", "self": "sum(self)"}
_KEYS = ("file", "pid", "tid", "host", "rank", "layer", "name", "category")


def _axes(ax: Axes | None, width: float = 9, height: float = 3.5) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise missing_package("matplotlib", "plot") from None
    made: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return made


class Plots:
    """`recording.plot`: every drawing shows numbers that SQL or a report gives."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def _wall(self) -> int:
        """The recording's length in ns."""
        return max(int(self._recording.sql("SELECT coalesce(max(wall), 0) FROM totals").value()), 1)

    def bandwidth(self, *, by: str | Sequence[str] = "layer", ax: Axes | None = None) -> Axes:
        """Bytes read and written per second over time: view `bandwidth`, a line for each group and direction."""
        table = self._recording.report("bandwidth", by=by).table
        keys = table.columns.index("direction") + 1
        lines = {" ".join(str(key) for key in row[:keys]): row[-1] for row in table}
        axes = _steps(_axes(ax), lines, self._wall())
        axes.set_ylabel("bytes/s")
        axes.set_title("Bandwidth")
        return axes

    def timeline(self, *, ax: Axes | None = None) -> Axes:
        """How many threads were in each layer over time: view `timeline`."""
        table = self._recording.report("timeline").table
        lines = {row["layer"]: [float(value) for value in row["threads"]] for row in table.dicts()}
        axes = _steps(_axes(ax), lines, self._wall())
        axes.set_ylabel("threads")
        axes.set_title("Layers over time")
        return axes

    def sizes(self, *, by: str | Sequence[str] = ("layer", "category"), ax: Axes | None = None) -> Axes:
        """How many bytes calls moved, in powers of two: view `sizes`, a colour for each group."""
        groups: dict[str, dict[int, int]] = {}
        for *keys, start, calls in self._recording.report("sizes", by=by).rows():
            groups.setdefault(" ".join(str(key) for key in keys), {})[start] = calls
        starts = sorted({start for counts in groups.values() for start in counts})
        axes = _axes(ax)
        width = 0.8 / max(len(groups), 1)
        for number, (name, counts) in enumerate(groups.items()):
            places = [place + number * width - 0.4 + width / 2 for place in range(len(starts))]
            axes.bar(places, [counts.get(start, 0) for start in starts], width, label=name)
        axes.set_xticks(range(len(starts)), [_human_bytes(start) for start in starts], rotation=45)
        axes.set_xlabel("bytes, from")
        axes.set_ylabel("calls")
        axes.set_title("Sizes of calls")
        if groups:
            axes.legend()
        return axes

    def heatmap(
        self,
        *,
        by: str = "file",
        value: str = "bytes",
        where: str = "",
        bins: int = 60,
        top: int = 25,
        ax: Axes | None = None,
    ) -> Axes:
        """Where and when: a row for each of the `top` files (or pid, tid, host, …), the darker the more."""
        if by not in _KEYS or value not in _MEASURES:
            hint = f"by {', '.join(_KEYS)}; of {', '.join(_MEASURES)}"
            raise Error(f"there is no heat map by '{by}' of '{value}'", hint, "usage")
        wall = self._wall()
        keys, cells = self._heat(by, value, where, bins, top, wall)
        axes = _axes(ax, height=1.5 + 0.25 * max(len(keys), 1))
        edges = [place * wall / bins / _SECOND for place in range(bins + 1)]
        if keys:
            mesh = axes.pcolormesh(edges, range(len(keys) + 1), cells, cmap="YlGnBu")
            axes.figure.colorbar(mesh, ax=axes, label=value if value in ("bytes", "calls") else f"{value} (ns)")
        axes.set_yticks([place + 0.5 for place in range(len(keys))], [str(key) for key in keys])
        axes.invert_yaxis()
        axes.set_xlabel("s")
        axes.set_title(f"{value} by {by}")
        return axes

    def _heat(
        self, by: str, value: str, where: str, bins: int, top: int, wall: int
    ) -> tuple[list[Any], list[list[int]]]:
        rows = self._recording.sql(
            f"""WITH chosen AS (
                  SELECT {quoted(by)} AS key, greatest(least(ts * $1 // $2, $1 - 1), 0) AS bin, bytes, dur, self
                  FROM events WHERE {quoted(by)} IS NOT NULL AND ({where or "true"})),
                cells AS (SELECT key, bin, {_MEASURES[value]} AS value FROM chosen GROUP BY key, bin),
                most AS (SELECT key, sum(value) AS total FROM cells GROUP BY key HAVING sum(value) > 0
                         ORDER BY total DESC, key LIMIT $3)
                SELECT key, bin, value FROM cells JOIN most USING (key) ORDER BY total DESC, key, bin""",
            bins,
            wall,
            top,
        )
        cells: dict[Any, list[int]] = {}
        for key, place, number in rows:
            cells.setdefault(key, [0] * bins)[int(place)] = number
        return list(cells), list(cells.values())


def _steps(axes: Axes, lines: dict[str, list[float]], wall: int) -> Axes:
    for name, values in lines.items():
        edges = [place * wall / len(values) / _SECOND for place in range(len(values) + 1)]
        axes.stairs(values, edges, label=name)
    axes.set_xlim(0, wall / _SECOND)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("s")
    if lines:
        axes.legend()
    return axes


def _human_bytes(number: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            return f"{number:g} {unit}"
        number /= 1024
    return f"{number:g} PiB"

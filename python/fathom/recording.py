# SPDX-License-Identifier: MIT
"""Recordings opened for questions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence, Union

from fathom import _native
from fathom._error import Error
from fathom.query import Query
from fathom.result import Report, Result

if TYPE_CHECKING:
    import dask.dataframe

    from fathom.plot import Plots

    Path = Union[str, os.PathLike[str]]


def path_list(paths: Path | Sequence[Path]) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return [os.fspath(path) for path in several]


def _several(texts: str | Sequence[str] | None) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts or ())


class _Table:
    """A table of the recording as an attribute of it."""

    def __init__(self, about: str) -> None:
        self.__doc__ = about

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, recording: Recording, _: type) -> Query:
        return recording.table(self._name)


class Recording:
    """One recording, or several as one. May be used by several threads.

    Its tables (docs/formats, ARCHITECTURE.md) are attributes: `recording.events`, `recording.files` and so on.
    """

    def __init__(self, paths: Path | Sequence[Path], *, threads: int | None = None, memory: str | None = None) -> None:
        self.paths = path_list(paths)
        self._store = _native.Store(self.paths, threads or 0, memory)
        self._described: dict[str, Any] | None = None

    def close(self) -> None:
        """Gives back what the engine holds. Results that are being read stay good."""
        self._store.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<fathom.Recording {', '.join(self.paths)}>"

    def describe(self) -> dict[str, Any]:
        """What was opened: the state, and for each part its directory, files, damage and manifest."""
        if self._described is None:
            self._described = self._store.describe()
        assert self._described is not None
        return self._described

    @property
    def state(self) -> str:
        """complete, partial or running"""
        return str(self.describe()["state"])

    # Questions

    def sql(self, query: str, *parameters: Any) -> Result:
        """One SELECT of DuckDB's SQL; parameters stand for `?` or `$1`, `$2` … in it."""
        return Result(lambda: self._store.query(query, parameters))

    def table(self, name: str) -> Query:
        """A table to choose from, as `recording.events` is."""
        return Query(self.sql, name)

    events = _Table("what happened, an event a row")
    intervals = _Table("calls counted in intervals of time")
    counters = _Table("numbers over time")
    samples = _Table("samples of stacks")
    frames = _Table("the frames of sampled stacks")
    processes = _Table("the processes")
    threads = _Table("the threads")
    files = _Table("the files, with what was read and written")
    layers = _Table("what was recorded, or why it was not")
    losses = _Table("what was dropped, cut or skipped")
    run = _Table("facts about the run")
    summary = _Table("sums by layer, name, file and process")

    # Reports

    @property
    def views(self) -> dict[str, str]:
        """The views that report() has, and what each tells."""
        return {view["name"]: view["help"] for view in _native.views()}

    def report(
        self,
        view: str = "overview",
        *,
        by: str | Sequence[str] | None = None,
        top: int | None = None,
        depth: int | None = None,
        from_: float | None = None,
        to: float | None = None,
        layers: str | Sequence[str] | None = None,
        pid: int | Sequence[int] | None = None,
        name: str | Sequence[str] | None = None,
        where: str | None = None,
        call: str | None = None,
        file: str | None = None,
    ) -> Report:
        """What `fathom report` says: a view, grouped by columns; `top` rows (0: all) and `depth` levels at most.

        `call` and `file` tell view `explain` which call it is to explain.

        The rest makes it tell of a part of the run: `from_` and `to` in seconds since the start, some layers,
        processes, names (`*` and `?` stand for others), or a condition on the columns of `events` in SQL.
        """
        pids = [pid] if isinstance(pid, int) else list(pid or ())
        part = _native.Part(_several(layers), _several(name), pids, from_, to, where)
        rows, levels = (-1 if number is None else number for number in (top, depth))
        asked = _native.Asked(_several(by), rows, levels, call, file)
        return Report(view, self._store.report(view, asked, part))

    def io_summary(self) -> dict[str, Any]:
        """The run in a few numbers, by the names that DFAnalyzer's users know; times in ns.

        How many processes, threads, files and events, and view `overlap`: application I/O, POSIX I/O and compute, and
        what of each nothing else hides.
        """
        counts = self.sql(
            "SELECT (SELECT count(DISTINCT (host, pid)) FROM processes) AS processes, "
            "(SELECT count(*) FROM threads) AS threads, (SELECT count(*) FROM files) AS files, "
            "(SELECT coalesce(sum(calls), 0) FROM summary) AS events"
        )
        overlap = self.report("overlap").dicts()
        return {**counts.dicts()[0], **(overlap[0] if overlap else {})}

    # Elsewhere

    @property
    def plot(self) -> Plots:
        """Drawings, by matplotlib."""
        from fathom.plot import Plots

        return Plots(self)

    def dask(self, table: str = "events") -> dask.dataframe.DataFrame:
        """A table as a Dask data frame over the recording's Parquet files."""
        from fathom.dask import frame

        return frame(self, table)

    def parquet(self, table: str) -> list[tuple[str, int]]:
        """The Parquet files of a table, each with the ns that its times lie behind the recording's start."""
        described = self.describe()
        if table not in described["tables"]:
            raise Error(f"there are no files of a table '{table}'", f"there are {', '.join(described['tables'])}")
        if not described["packed"]:
            far = any("://" in path or path.startswith("recording:") for path in self.paths)
            packs = "ask questions of it, or open it where it lies" if far else "fathom collect packs it"
            hint = "wait until the run has ended" if self.state == "running" else packs
            raise Error("its rows are not all in Parquet files here", hint, "unsupported")
        return [(file, part["shift"]) for part in described["parts"] for file in part["files"].get(table, ())]

# SPDX-License-Identifier: MIT
"""Tables: what a query or a report gives, as plain Python, pandas, Arrow or polars."""

from __future__ import annotations

import ctypes
import html
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence, Tuple

from fathom._error import Error, missing_package

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from fathom._native import Rows

Row = Tuple[Any, ...]
_SHOWN = 20  # rows of a table in a notebook


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise missing_package("pyarrow", "pyarrow") from None
    return pyarrow


def _plain(table: pyarrow.Table) -> pyarrow.Table:
    """Sums are 128 bits wide in the engine: 64-bit integers where they fit, and doubles for other decimals."""
    arrow = _pyarrow()
    for place, field in enumerate(table.schema):
        if not arrow.types.is_decimal(field.type):
            continue
        wanted = arrow.int64() if field.type.scale == 0 else arrow.float64()
        try:
            column = table.column(place).cast(wanted)
        except arrow.ArrowInvalid:
            continue  # beyond 64 bits: stays exact
        table = table.set_column(place, arrow.field(field.name, wanted), column)
    return table


def _counted(number: int, noun: str) -> str:
    """A number with its noun: "1 row", "2 rows"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _frame(table: pyarrow.Table) -> pandas.DataFrame:
    """NULL does not make an integer inexact: such columns are of pandas' Int64 and the like."""
    try:
        import pandas
    except ImportError:
        raise missing_package("pandas", "pandas") from None
    arrow = _pyarrow()
    sizes = ("8", "16", "32", "64")
    exact = {getattr(arrow, f"{sign}int{size}")(): getattr(pandas, f"{name}{size}Dtype")()
             for sign, name in (("", "Int"), ("u", "UInt")) for size in sizes}  # fmt: skip
    frame = table.to_pandas()
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if field.type in exact and column.null_count > 0:
            frame.isetitem(place, column.to_pandas(types_mapper=exact.get))
    return frame


class Table(ABC):
    """Named columns and rows."""

    @property
    @abstractmethod
    def columns(self) -> list[str]: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Row]: ...

    @abstractmethod
    def arrow(self) -> pyarrow.Table:
        """As a table of pyarrow's."""

    def rows(self) -> list[Row]:
        """All rows, as tuples of Python's own types. Needs no other package."""
        return list(self)

    def dicts(self) -> list[dict[str, Any]]:
        """All rows, by the columns' names."""
        return [dict(zip(self.columns, row)) for row in self]

    def value(self) -> Any:
        """The one value of a table that has one."""
        rows = self.rows()
        if len(rows) != 1 or len(rows[0]) != 1:
            raise Error(f"{_counted(len(rows), 'row')} of {_counted(len(self.columns), 'column')}, not one value")
        return rows[0][0]

    def df(self) -> pandas.DataFrame:
        """As a data frame of pandas'. Integers stay integers where some are NULL."""
        return _frame(self.arrow())

    def pl(self) -> polars.DataFrame:
        """As a data frame of polars'."""
        try:
            import polars
        except ImportError:
            raise missing_package("polars", "polars") from None
        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _repr_html_(self) -> str:
        shown: list[Row] = []
        more = False
        for row in self:
            if len(shown) == _SHOWN:
                more = True
                break
            shown.append(row)
        return _html(self.columns, shown, "more rows follow" if more else "")


def calm(text: str) -> str:
    """The text as one line of which nothing steers a terminal: a run's arguments may hold anything."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _html(columns: Sequence[str], rows: Sequence[Row], note: str) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    lines = ["<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows]
    tail = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{tail}"


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(str(value))


def _told(arrow: Any, work: Callable[[], Any]) -> Any:
    """Arrow's exceptions are of many kinds and lines; the engine's own words are in the first."""
    try:
        return work()
    except (OSError, arrow.ArrowException) as failure:
        raise Error(str(failure).split("\n")[0]) from None


def _reader(arrow: Any, rows: Rows) -> Any:
    stream = rows.arrow()
    return arrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))


class Result(Table):
    """The answer to a query. It runs when rows are asked for, and again when they are asked for again."""

    def __init__(self, ask: Callable[[], Rows]) -> None:
        self._ask = ask
        self._fresh: list[Rows] = [ask()]  # what is wrong with a query is told at once
        self._columns = self._fresh[0].columns()

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def _rows(self) -> Rows:
        return self._fresh.pop() if self._fresh else self._ask()

    def __iter__(self) -> Iterator[Row]:
        rows = self._rows()
        while True:
            part = rows.next()
            if part is None:
                return
            for row in part:
                yield tuple(row)

    def batches(self) -> pyarrow.RecordBatchReader:
        """As a reader of pyarrow's, for results that do not fit into memory."""
        arrow, rows = _pyarrow(), self._rows()
        return _told(arrow, lambda: _reader(arrow, rows))

    def arrow(self) -> pyarrow.Table:
        arrow, rows = _pyarrow(), self._rows()
        return _plain(rows.waiting(lambda: _told(arrow, lambda: _reader(arrow, rows).read_all())))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """What polars, DuckDB, pyarrow and others take a table by."""
        from fathom._capsule import stream_capsule

        return stream_capsule(self._rows().arrow())

    def __repr__(self) -> str:
        return f"<fathom.Result of {calm(', '.join(self._columns))}>"


class ReportTable(Table):
    """A table of a report."""

    def __init__(self, made: dict[str, Any]) -> None:
        self.title: str = made["title"]
        self.note: str = made["note"]
        self.measures: list[str] = made["measures"]  # ns, bytes, count, percent, or empty
        self._columns: list[str] = made["columns"]
        self._made: list[list[Any]] = made["rows"]
        self._text: str = made["text"]

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __iter__(self) -> Iterator[Row]:
        return (tuple(row) for row in self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<fathom.ReportTable {self.title!r}, {_counted(len(self._made), 'row')}>"

    def arrow(self) -> pyarrow.Table:
        arrow = _pyarrow()
        columns = list(zip(*self._made)) if self._made else [() for _ in self._columns]
        return arrow.table([arrow.array(column) for column in columns], names=self._columns)


class Report:
    """What a view says: words, advice and tables. `df()`, `rows()` and the like are those of the first table."""

    def __init__(self, view: str, made: dict[str, Any]) -> None:
        self.view = view
        self.words: list[str] = made["words"]
        self.insights: list[dict[str, Any]] = made["insights"]
        self.of_part: bool = made["of_part"]  # rules judge whole runs: no insights then
        self.tables = [ReportTable(table) for table in made["tables"]]

    @property
    def table(self) -> ReportTable:
        if not self.tables:
            raise Error(f"view {self.view} has no table here")
        return self.tables[0]

    def __getitem__(self, title: str) -> ReportTable:
        for table in self.tables:
            if table.title == title:
                return table
        raise KeyError(title)

    def rows(self) -> list[Row]:
        return self.table.rows()

    def dicts(self) -> list[dict[str, Any]]:
        return self.table.dicts()

    def df(self) -> pandas.DataFrame:
        return self.table.df()

    def arrow(self) -> pyarrow.Table:
        return self.table.arrow()

    def pl(self) -> polars.DataFrame:
        return self.table.pl()

    def __str__(self) -> str:
        return "\n".join([*map(calm, self.words), *(f"{calm(table.title)}\n{table}" for table in self.tables)])

    def __repr__(self) -> str:
        return f"<fathom.Report {self.view!r}: {calm(', '.join(table.title for table in self.tables))}>"

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.words)
        return words + "".join(f"<h4>{html.escape(t.title)}</h4>{t._repr_html_()}" for t in self.tables)

# SPDX-License-Identifier: MIT
"""Recordings on a Dask cluster: tables as data frames, and reports whose sums are made where the recordings are.

Workers need this package, and see the recordings under the same paths as the client.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence, Union

import fathom
from fathom import _native
from fathom._error import Error, missing_package
from fathom.recording import Recording, path_list

try:
    import dask.dataframe as dd
    import pandas
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet
except ImportError as absent:
    raise missing_package(absent.name or "dask", "dask") from None

if TYPE_CHECKING:
    import distributed

    from fathom.result import Report

    Paths = Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]]

_TYPES = {
    "BIGINT": pyarrow.int64(),
    "INTEGER": pyarrow.int32(),
    "DOUBLE": pyarrow.float64(),
    "VARCHAR": pyarrow.string(),
    "BIGINT[]": pyarrow.list_(pyarrow.int64()),
    "MAP(VARCHAR, VARCHAR)": pyarrow.map_(pyarrow.string(), pyarrow.string()),
}
_PARTITION_ROWS = 1_000_000

# What is summed up while events are decoded.
_SUMS = ("summary", "timeline", "coverage", "processes", "threads", "inodes")
_OF_COUNTERS = ("overview", "resources", "intervals")  # they read what is no sum


class Column(NamedTuple):
    name: str
    type: str
    role: str


class Piece(NamedTuple):
    """Some row groups of a file, which make one partition."""

    path: str
    first: int
    last: int
    shift: int


def frame(recording: Recording, table: str = "events") -> dd.DataFrame:
    """A table over its Parquet files, columns and values as in SQL; integers that may be NULL are Arrow's."""
    files = recording.parquet(table)
    columns = tuple(Column(*column) for column in recording.describe()["tables"][table])
    pieces = [piece for path, shift in files for piece in _pieces(path, shift)]
    empty = _as_frame(_schema(columns).empty_table())
    if not pieces:
        nothing: dd.DataFrame = dd.from_pandas(empty, npartitions=1)
        return nothing
    found: dd.DataFrame = dd.from_map(_read, pieces, contract=columns, meta=empty, label=f"fathom-{table}")
    return found


def _pieces(path: str, shift: int) -> list[Piece]:
    facts = pyarrow.parquet.read_metadata(path)
    pieces: list[Piece] = []
    first, rows = 0, 0
    for group in range(facts.num_row_groups):
        rows += facts.row_group(group).num_rows
        if rows >= _PARTITION_ROWS or group + 1 == facts.num_row_groups:
            pieces.append(Piece(path, first, group + 1, shift))
            first, rows = group + 1, 0
    return pieces


def _schema(columns: Sequence[Column]) -> pyarrow.Schema:
    return pyarrow.schema([(column.name, _TYPES[column.type]) for column in columns])


def _as_frame(table: pyarrow.Table) -> pandas.DataFrame:
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def _read(piece: Piece, contract: Sequence[Column], columns: Sequence[str] | None = None) -> pandas.DataFrame:
    """One partition. Dask says which columns are needed."""
    wanted = [column for column in contract if columns is None or column.name in columns]
    with pyarrow.parquet.ParquetFile(piece.path) as file:
        stored = set(file.schema_arrow.names)
        names = {column.name for column in wanted} & stored
        if any(column.role == "self" for column in wanted):
            names.add("dur")
        table = file.read_row_groups(list(range(piece.first, piece.last)), columns=sorted(names))
    arrays = [_column(column, table, piece.shift) for column in wanted]
    found = _as_frame(pyarrow.table(arrays, schema=_schema(wanted)))
    return found if columns is None else found[list(columns)]


def _column(column: Column, table: pyarrow.Table, shift: int) -> Any:
    wanted = _TYPES[column.type]
    if column.name not in table.column_names:
        return pyarrow.nulls(table.num_rows, wanted)
    values = table.column(column.name).cast(wanted)
    if column.role == "time" and shift != 0:
        return pyarrow.compute.add(values, shift)
    return pyarrow.compute.coalesce(values, table.column("dur")) if column.role == "self" else values


def sql(client: distributed.Client, paths: Paths, query: str, *parameters: Any) -> pyarrow.Table:
    """Asks each path on a worker; all answers as one table, in the order of the paths.

    Sums over recordings are sums of these rows.
    """
    names = path_list(paths)
    answers = client.gather([client.submit(_answer, name, query, parameters, pure=False) for name in names])
    return pyarrow.concat_tables(answers, promote_options="permissive")


def _answer(path: str, query: str, parameters: tuple[Any, ...]) -> pyarrow.Table:
    with fathom.open(path, threads=1) as recording:
        return recording.sql(query, *parameters).arrow()


class Gathered:
    """The sums of many recordings, which answer every view that is made of sums. Ends with `with`, or close()."""

    def __init__(self, parts: Sequence[Sums]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fathom-sums-")
        root = Path(self._folder.name)
        self._together = fathom.open([_write(root / f"{number}.fathom", part) for number, part in enumerate(parts)])

    def report(
        self, view: str = "functions", *, by: str | Sequence[str] | None = None, top: int | None = None
    ) -> Report:
        """What `fathom.open(paths).report(view)` says, to the last digit."""
        _check_view(view, by)
        return self._together.report(view, by=by, top=top)

    def close(self) -> None:
        self._together.close()
        self._folder.cleanup()

    def __enter__(self) -> Gathered:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sum_views() -> list[str]:
    """The views that are made of sums; some of them only as long as they are not grouped."""
    return [name for name in (view["name"] for view in _native.views()) if _is_of_sums(name, None)]


def _is_of_sums(name: str, by: str | Sequence[str] | None) -> bool:
    for view in _native.views():
        if view["name"] == name and name not in _OF_COUNTERS:
            return not view["of_events"] or (view["plain_of_sums"] and not by)
    return False


def _check_view(view: str, by: str | Sequence[str] | None) -> None:
    if not _is_of_sums(view, by):
        grouped = f" by {by}" if by else ""
        raise Error(f"view '{view}'{grouped} is not made of sums", f"those that are: {', '.join(sum_views())}", "usage")


def gather(client: distributed.Client, paths: Paths) -> Gathered:
    """The sums of the recordings, for several reports.

    Workers decode what is not packed, and send the sums of each recording: integers, which the engine here
    adds up as it does those of recordings that lie beside it.
    """
    parts = client.gather([client.submit(_sums, name, pure=False) for name in path_list(paths)])
    return Gathered([one for several in parts for one in several])


def report(
    client: distributed.Client,
    paths: Paths,
    view: str = "functions",
    *,
    by: str | Sequence[str] | None = None,
    top: int | None = None,
) -> Report:
    """One report over many recordings, see gather(); sum_views() names the views that are sums."""
    _check_view(view, by)
    with gather(client, paths) as gathered:
        return gathered.report(view, by=by, top=top)


class Sums(NamedTuple):
    """A recording without its rows."""

    manifest: str
    tables: dict[str, bytes]  # as Parquet


def _sums(path: str) -> list[Sums]:
    """On a worker: the sums of each recording at a path."""
    with fathom.open(path, threads=1) as recording:
        parts = recording.describe()["parts"]
        if len(parts) == 1:
            return [_sums_of(recording)]
    return [sums for part in parts for sums in _sums(part["directory"])]


def _sums_of(recording: Recording) -> Sums:
    part = recording.describe()["parts"][0]
    if part["damaged"]:
        # Its sums tell of more than what is left of its rows; the engine counts anew, which needs the rows.
        named = ", ".join(file["path"] for file in part["damaged"])
        raise Error(f"files are damaged: {named}", "fathom.open(…).report(…) tells what is left", "corrupt")
    # What it says of its files does not hold for the sums alone.
    manifest = {key: value for key, value in json.loads(part["manifest"]).items() if key != "files"}
    return Sums(json.dumps(manifest), {table: _parquet(recording, table) for table in _SUMS})


def _parquet(recording: Recording, table: str) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(recording.table(table).arrow(), out)
    return out.getvalue()


def _write(place: Path, sums: Sums) -> Path:
    place.mkdir()
    (place / "manifest.json").write_text(sums.manifest, encoding="utf-8")
    for table, content in sums.tables.items():
        (place / f"{table}.parquet").write_bytes(content)
    return place

# SPDX-License-Identifier: MIT
"""A query that is put together step by step: `recording.events.where(layer="posix").select("name", "dur")`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Callable, Iterator

from fathom._error import Error
from fathom.result import Result, Row, Table

if TYPE_CHECKING:
    import pyarrow


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _term(text: str) -> str:
    """Names of columns may be words of SQL (offset, end); anything else is an expression."""
    return quoted(text) if text.isidentifier() else text


class Query(Table):
    """Rows of one table. Every method gives a new query; nothing runs before rows are asked for."""

    def __init__(self, ask: Callable[..., Result], table: str) -> None:
        self._ask = ask
        self._table = table
        self._conditions: list[str] = []
        self._parameters: list[Any] = []
        self._columns: list[str] = []
        self._groups: list[str] = []
        self._order: list[str] = []
        self._limit = -1

    def _with(self, **changes: Any) -> Query:
        other = copy.copy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def where(self, condition: str = "", *parameters: Any, **equal: Any) -> Query:
        """Rows for which all holds: a condition in SQL (with `?` for parameters), and columns that have a value.

        A value of None asks for NULL, a list for any of its members.
        """
        conditions, values = list(self._conditions), list(self._parameters)
        if condition:
            conditions.append(f"({condition})")
            values.extend(parameters)
        elif parameters:
            raise Error("parameters without a condition", 'where("dur > ?", 1000)', "usage")
        for name, value in equal.items():
            text, more = _equal(name, value)
            conditions.append(text)
            values.extend(more)
        return self._with(_conditions=conditions, _parameters=values)

    def select(self, *columns: str, **named: str) -> Query:
        """Only these columns, or expressions in SQL; `total="sum(dur)"` names one."""
        renamed = [f"{_term(text)} AS {quoted(name)}" for name, text in named.items()]
        chosen = [*(_term(column) for column in columns), *renamed]
        return self._with(_columns=[*self._columns, *chosen])

    def group_by(self, *columns: str) -> Query:
        """One row for each combination of these; select() then holds sums."""
        return self._with(_groups=[*self._groups, *(_term(column) for column in columns)])

    def order_by(self, *columns: str) -> Query:
        """Sorted by these; a minus in front sorts downwards."""
        terms = [f"{_term(name[1:])} DESC" if name.startswith("-") else _term(name) for name in columns]
        return self._with(_order=[*self._order, *terms])

    def limit(self, rows: int) -> Query:
        return self._with(_limit=rows)

    @property
    def text(self) -> str:
        """The query in SQL; its parameters are in `parameters`."""
        groups = [group for group in self._groups if group not in self._columns]
        parts = [f"SELECT {', '.join([*groups, *self._columns]) or '*'} FROM {quoted(self._table)}"]
        if self._conditions:
            parts.append("WHERE " + " AND ".join(self._conditions))
        if self._groups:
            parts.append("GROUP BY " + ", ".join(self._groups))
        if self._order:
            parts.append("ORDER BY " + ", ".join(self._order))
        if self._limit >= 0:
            parts.append(f"LIMIT {self._limit:d}")
        return " ".join(parts)

    @property
    def parameters(self) -> list[Any]:
        return list(self._parameters)

    def result(self) -> Result:
        return self._ask(self.text, *self._parameters)

    @property
    def columns(self) -> list[str]:
        return self.result().columns

    def count(self) -> int:
        """How many rows there are."""
        return int(self._ask(f"SELECT count(*) FROM ({self.text})", *self._parameters).value())

    def __iter__(self) -> Iterator[Row]:
        return iter(self.result())

    def dicts(self) -> list[dict[str, Any]]:
        return self.result().dicts()

    def arrow(self) -> pyarrow.Table:
        return self.result().arrow()

    def batches(self) -> pyarrow.RecordBatchReader:
        """As a reader of pyarrow's, for results that do not fit into memory."""
        return self.result().batches()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.result().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self.result()._repr_html_()

    def __repr__(self) -> str:
        return f"<fathom.Query {self.text}>"


def _equal(name: str, value: Any) -> tuple[str, list[Any]]:
    if value is None:
        return f"{quoted(name)} IS NULL", []
    if isinstance(value, (list, tuple, set, frozenset)):
        if not value:
            return "false", []
        return f"{quoted(name)} IN ({', '.join('?' * len(value))})", list(value)
    return f"{quoted(name)} = ?", [value]

# SPDX-License-Identifier: MIT
"""DuckDB through its C interface: reads Parquet as any other program would, without Fathom and without a package."""

import ctypes
from pathlib import Path
from typing import Any, List, Optional, Tuple

from kit import Failure

RESULT_BYTES = 256  # more than duckdb_result is


class Database:
    """One connection to a database in memory. Values come as texts, NULL as None."""

    def __init__(self, library: Path) -> None:
        self._api = ctypes.CDLL(str(library))
        self._database, self._connection = ctypes.c_void_p(), ctypes.c_void_p()
        for name in ("duckdb_column_count", "duckdb_row_count"):
            getattr(self._api, name).restype = ctypes.c_uint64
        self._api.duckdb_value_varchar.restype = ctypes.c_void_p
        self._api.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        self._api.duckdb_result_error.restype = ctypes.c_char_p
        self._api.duckdb_free.argtypes = [ctypes.c_void_p]

    def __enter__(self) -> "Database":
        opened = self._api.duckdb_open(None, ctypes.byref(self._database))
        if opened != 0 or self._api.duckdb_connect(self._database, ctypes.byref(self._connection)) != 0:
            raise Failure("DuckDB cannot be opened")
        return self

    def __exit__(self, *_: Any) -> None:
        self._api.duckdb_disconnect(ctypes.byref(self._connection))
        self._api.duckdb_close(ctypes.byref(self._database))

    def rows(self, sql: str) -> List[Tuple[Optional[str], ...]]:
        result = ctypes.create_string_buffer(RESULT_BYTES)
        try:
            if self._api.duckdb_query(self._connection, sql.encode(), result) != 0:
                raise Failure(f"{sql}: {(self._api.duckdb_result_error(result) or b'').decode()}")
            columns = self._api.duckdb_column_count(result)
            count = self._api.duckdb_row_count(result)
            return [tuple(self._text(result, column, row) for column in range(columns)) for row in range(count)]
        finally:
            self._api.duckdb_destroy_result(result)

    def _text(self, result: Any, column: int, row: int) -> Optional[str]:
        value = self._api.duckdb_value_varchar(result, column, row)
        if not value:
            return None
        text = ctypes.string_at(value).decode()
        self._api.duckdb_free(value)
        return text

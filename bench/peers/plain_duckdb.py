# SPDX-License-Identifier: MIT
"""plain_duckdb.py RECORDING TABLE: copies the events of a recording into one Parquet file with DuckDB's defaults,
unless it is there, and times queries on it (JSON on stdin: name to SQL over `events`); gives seconds of each as JSON.
"""

import json
import sys
import time
from pathlib import Path

import duckdb


def main() -> None:
    recording, table = Path(sys.argv[1]), Path(sys.argv[2])
    quoted = "'" + str(table).replace("'", "''") + "'"
    queries = json.load(sys.stdin)
    database = duckdb.connect(config={"threads": 2})
    if not table.exists():
        files = [str(path) for path in sorted(recording.glob("events*.parquet"))]
        database.execute(f"COPY (FROM read_parquet(?)) TO {quoted} (FORMAT parquet)", [files])
    database.execute(f"CREATE VIEW events AS FROM read_parquet({quoted})")
    seconds = {}
    for name, query in queries.items():
        begin = time.monotonic()
        database.execute(query).fetchall()
        seconds[name] = time.monotonic() - begin
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""What DataCrumbs' notebook asks of profile.pfw, and the same in SQL about the recording that it comes from.

The notebook reads lines of JSON into a frame (pid, ts, function, category, file, calls, time, bytes) and groups them.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

CATEGORY = "CASE layer WHEN 'syscall' THEN 'sys' WHEN 'pagecache' THEN 'os_cache' ELSE layer END"
FUNCTION = f"{CATEGORY} || ' ' || name"


class Line(NamedTuple):
    pid: int
    ts: int
    function: str  # with its category: read of the C library is not that of the kernel
    file: Optional[str]
    calls: int
    seconds: float
    size: int


def lines_of(path: Path) -> List[Line]:
    found = []
    for text in path.read_text().splitlines():
        if text[:1] in ("[", ""):
            continue
        line = json.loads(text)
        args = line["args"]
        function = f"{line['cat']} {line['name']}"
        size = args["size_sum"] or 0
        found.append(Line(line["pid"], int(line["ts"]), function, args["fname"], args["freq"], args["time"], size))
    return found


def sums(lines: List[Line], key: Any, value: str) -> Dict[Any, Any]:
    found: Dict[Any, Any] = defaultdict(int)
    for line in lines:
        found[key(line)] += getattr(line, value)
    return found


def longest(of_process: Dict[Tuple[Any, int], float]) -> Dict[Any, float]:
    """The greatest of all processes."""
    found: Dict[Any, float] = defaultdict(float)
    for (key, _), seconds in of_process.items():
        found[key] = max(found[key], seconds)
    return found


def answers(lines: List[Line]) -> List[List[List[Any]]]:
    """In the order of QUESTIONS; times in whole nanoseconds."""
    calls = sums(lines, lambda line: line.function, "calls")
    size = sums(lines, lambda line: line.function, "size")
    busiest = longest(sums(lines, lambda line: (line.function, line.pid), "seconds"))
    by_time = longest(sums(lines, lambda line: ((line.function, line.ts), line.pid), "seconds"))
    over_time: Dict[str, float] = defaultdict(float)
    for (function, _), seconds in by_time.items():
        over_time[function] += seconds
    files = {line.file for line in lines if line.file is not None}
    whole = [len({line.ts for line in lines}), max(line.ts for line in lines) - min(line.ts for line in lines)]
    return [
        [[name, number, size[name]] for name, number in sorted(calls.items())],
        [[name, round(seconds * 1e9)] for name, seconds in sorted(busiest.items())],
        [[name, round(seconds * 1e9)] for name, seconds in sorted(over_time.items())],
        [[file, sum(line.calls for line in lines if line.file == file)] for file in sorted(files)],
        [whole],
    ]


OF_PROCESS = f"SELECT {FUNCTION} AS f, pid, ts, sum(dur) AS d FROM intervals GROUP BY ALL"
QUESTIONS = [
    f"SELECT {FUNCTION} AS f, CAST(sum(calls) AS BIGINT) AS n, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS b "
    "FROM intervals GROUP BY f ORDER BY f",
    f"SELECT f, CAST(max(d) AS BIGINT) AS ns FROM (SELECT f, pid, sum(d) AS d FROM ({OF_PROCESS}) "
    "GROUP BY ALL) GROUP BY f ORDER BY f",
    f"SELECT f, CAST(sum(d) AS BIGINT) AS ns FROM (SELECT f, ts, max(d) AS d FROM ({OF_PROCESS}) "
    "GROUP BY ALL) GROUP BY f ORDER BY f",
    "SELECT file, CAST(sum(calls) AS BIGINT) AS n FROM intervals WHERE file IS NOT NULL GROUP BY file ORDER BY file",
    "SELECT count(DISTINCT ts // 1000) AS n, max(ts // 1000) - min(ts // 1000) AS us FROM intervals",
]

# SPDX-License-Identifier: MIT
"""Results of queries and reports, in every form that they can take."""

import json
import os
import sys
import threading
from pathlib import Path

import fathom
from kit import FATHOM, Failure, expect, ran, rows
from world import invented, need, small, unpacked

BY_NAME = (
    "SELECT name, count(*) AS calls, sum(dur) AS time, sum(bytes) AS bytes, avg(dur) AS mean FROM events "
    "GROUP BY name ORDER BY name"
)


def refused(what: str, *arguments, **keywords) -> fathom.Error:
    try:
        what(*arguments, **keywords)
    except fathom.Error as error:
        if "\n" in str(error):
            raise Failure(f"an error of several lines: {error}") from None
        return error
    raise Failure(f"{what} was not refused")


def test_rows_are_those_of_the_command(root: Path) -> None:
    trace = small(root)
    with fathom.open(trace) as recording:
        result = recording.sql(BY_NAME)
        wanted = rows(trace, BY_NAME)
        expect("columns", list(wanted[0]), result.columns)
        expect("rows", [tuple(row.values()) for row in wanted], result.rows())
        expect("once more", result.rows(), list(result))
        expect("by name", wanted, result.dicts())


def test_values_are_pythons_own(root: Path) -> None:
    with fathom.open(small(root)) as recording:
        values = (None, True, -5, 2**63 - 1, 0.5, "it's")
        expect("parameters", [values], recording.sql("SELECT ?, ?, ?, ?, ?, ?", *values).rows())
        sql = "SELECT [1, 2] AS l, MAP {'k': 'v'} AS m, 18446744073709551615::UBIGINT AS u, DATE '2026-01-31' AS d"
        expect("others", [([1, 2], {"k": "v"}, 2**64 - 1, "2026-01-31")], recording.sql(sql).rows())
        expect("beyond 64 bits", "invalid", refused(recording.sql, "SELECT ?", 2**63).code)
        expect("a NUL", "invalid", refused(recording.sql, "SELECT 1 \0").code)


def test_a_wrong_question_is_told_at_once(root: Path) -> None:
    with fathom.open(small(root)) as recording:
        error = refused(recording.sql, "SELECT nmae FROM events")
        expect("what, and what to do", (True, True), ("nmae" in error.message, "name" in error.hint))
        for sql in ("DROP VIEW events", "SELECT 1; SELECT 2", "COPY events TO '/tmp/x'", ""):
            refused(recording.sql, sql)
        refused(lambda: recording.sql("SELECT * FROM read_csv('/etc/passwd')").rows())
        refused(lambda: recording.sql("SELECT CAST(name AS INTEGER) FROM events").rows())
    refused(recording.sql, "SELECT 1")
    expect("a path", True, "no-such" in str(refused(fathom.open, root / "no-such")))
    (root / "empty").mkdir()
    expect("an empty folder", True, "empty" in str(refused(fathom.open, root / "empty")))
    refused(fathom.open, [])


def test_queries_are_put_together(root: Path) -> None:
    with fathom.open(small(root)) as recording:
        calls = recording.events.where(layer="posix")
        expect("count", 6, calls.count())
        expect("parameters", 2, calls.where("dur >= ? AND dur <= ?", 3000, 4500).count())
        expect("any of", 4, calls.where(name=["pread", "open"]).count())
        expect("none of", 0, calls.where(name=[]).count())
        expect("NULL", 1, recording.events.where(layer="posix", bytes=None).count())
        summed = calls.group_by("name").select(total="sum(bytes)", calls="count(*)").order_by("-total").limit(2)
        expect("sums", [("read", 1048576, 1), ("pread", 8292, 3)], summed.where("bytes > 0").rows())
        expect("a word of SQL", [(0,)], calls.select("offset").order_by("offset").limit(1).rows())
        expect(
            "two orders",
            [("load",), ("step",)],
            recording.events.where("dur > 300000").select("name").order_by("name").rows(),
        )
        expect("first query", 6, calls.count())
        expect("tables", 2, recording.processes.count())


def test_pandas(root: Path) -> None:
    need("pandas", "pyarrow")
    with fathom.open(small(root)) as recording:
        frame = recording.sql(BY_NAME).df()
        types = {name: str(dtype) for name, dtype in frame.dtypes.items()}
        numbers = {"calls": "int64", "time": "int64", "bytes": "Int64", "mean": "float64"}
        expect("types", numbers, {name: types[name] for name in numbers})
        expect("sum", 1131500 - 1000, int(frame["time"].sum()))
        expect("NULL", 6, int(frame["bytes"].isna().sum()))
        large = recording.sql("SELECT * FROM (VALUES (9007199254740993), (NULL)) t(n)").df()
        expect("exact beside NULL", 9007199254740993, int(large["n"][0]))
        expect("no row", (0, 5), recording.sql(BY_NAME.replace("GROUP", "WHERE false GROUP")).df().shape)
        expect("a query", 3, len(recording.events.where(name="pread").df()))


def test_arrow_and_polars(root: Path) -> None:
    need("pyarrow", "polars")
    import polars
    import pyarrow

    with fathom.open(invented(root, 1)) as recording:
        wanted = recording.sql(BY_NAME).rows()
        table = recording.sql(BY_NAME).arrow()
        expect("Arrow", wanted, [tuple(row.values()) for row in table.to_pylist()])
        expect("polars", wanted, recording.sql(BY_NAME).pl().rows())
        events = recording.events.select("ts", "name", "bytes")
        expect("by capsule", 2000, polars.DataFrame(events).height)
        expect("by capsule, too", 2000, pyarrow.table(events.result()).num_rows)
        unused = recording.sql("SELECT 1").__arrow_c_stream__()
        del unused  # its capsule ends the query
        expect("batches", 2000, sum(batch.num_rows for batch in events.batches()))
        error = refused(recording.sql("SELECT CAST(name AS INTEGER) FROM events").arrow)
        expect("an error on the way", True, "read" in str(error) or "write" in str(error) or "fsync" in str(error))
        huge = recording.sql("SELECT 170141183460469231731687303715884105727::HUGEINT AS n").arrow()
        expect("beyond 64 bits", str(2**127 - 1), str(huge["n"][0].as_py()))


def test_readers_of_parquet_find_what_sql_finds(root: Path) -> None:
    need("polars", "pyarrow")
    import polars
    import pyarrow.parquet

    trace = invented(root, 1)
    with fathom.open(trace) as recording:
        for table in ("events", "summary"):
            for file in sorted(trace.glob(f"{table}*.parquet")):
                read = pyarrow.parquet.read_table(file).drop(["self"])  # NULL in files where it equals dur
                columns = ", ".join(f'"{name}"' for name in read.column_names)
                wanted = recording.sql(f"SELECT {columns} FROM {table}").arrow()
                for name in read.column_names:
                    expect(f"{file.name}: {name} by pyarrow", wanted[name].to_pylist(), read[name].to_pylist())
                expect(f"{file.name} by polars", wanted.num_rows, polars.read_parquet(file).height)
                footer = pyarrow.parquet.read_metadata(file)
                expect("written by", True, footer.created_by.startswith("fathom "))
                bounds = footer.row_group(0).column(0).statistics
                expect("bounds", (0, True), (bounds.null_count, bounds.has_min_max))


def test_reports_are_those_of_the_command(root: Path) -> None:
    trace = small(root)
    with fathom.open(trace) as recording:
        told = json.loads(
            ran(FATHOM, "report", trace, "functions", "--by", "file,name", "--top", "3", "--format", "json")
        )
        report = recording.report("functions", by=["file", "name"], top=3)
        expect("rows", told["functions_by_self_time"], report.dicts())
        expect("views", True, {"overview", "functions", "layers"} <= set(recording.views))
        for view in recording.views:
            report = recording.report(view)
            expect(f"{view} as text and HTML", True, bool(str(report)) and "<table>" in report._repr_html_())
        told = json.loads(ran(FATHOM, "report", trace, "explain", "--call", "pread", "--format", "json"))
        expect("explain", told["where_the_time_went"], recording.report("explain", call="pread").dicts())
        expect("no call is explained there", "usage", refused(recording.report, "functions", call="pread").code)
        expect("words", True, recording.report().words[0].startswith("work --fast: 1.00 ms wall time"))
        expect("no view", "usage", refused(recording.report, "nonsense").code)
        expect("no group", "usage", refused(recording.report, "functions", by="nonsense").code)


def test_reports_of_a_part_are_those_of_the_command(root: Path) -> None:
    trace = small(root)
    parts = (
        ({"from_": 0.0001, "to": 0.0003}, ["--from", "0.0001", "--to", "0.0003"]),
        ({"layers": "posix", "name": ["p*", "open"]}, ["--layers", "posix", "--name", "p*,open"]),
        ({"pid": 10, "where": "bytes > 0"}, ["--pid", "10", "--where", "bytes > 0"]),
    )
    with fathom.open(trace) as recording:
        whole = recording.report("functions")
        for asked, options in parts:
            told = json.loads(ran(FATHOM, "report", trace, "functions", *options, "--format", "json"))
            report = recording.report("functions", **asked)
            expect(f"rows of {asked}", told["functions_by_self_time"], report.dicts())
            expect("says so", (True, []), (report.of_part, recording.report(**asked).insights))
        expect("the whole run again", whole.dicts(), recording.report("functions").dicts())
        expect("no layer", "usage", refused(recording.report, "functions", layers="nonsense").code)
        expect("no time", True, bool(refused(recording.report, "functions", to=float("nan"))))
        refused(recording.report, "functions", where="true); DROP VIEW events; --")


def test_rules_of_ones_own_give_advice(root: Path) -> None:
    (root / "rules").mkdir()
    (root / "rules" / "always.sql").write_text(
        "-- id: always\n-- severity: low\n-- title: Always so\n-- says: {n} calls\n-- try: nothing\n"
        "SELECT sum(calls) AS n FROM summary\n-- evidence:\nFROM summary\n"
    )
    os.environ["FATHOM_RULES"] = str(root / "rules")
    try:
        with fathom.open(small(root)) as recording:
            said = [one["rule"] for one in recording.report().insights]
    finally:
        del os.environ["FATHOM_RULES"]
    expect("the rule", True, "always" in said)


def test_report_tables_are_frames(root: Path) -> None:
    need("pandas", "pyarrow", "polars")
    with fathom.open(small(root)) as recording:
        frame = recording.report("functions").df()
        expect("step", 477000, int(frame.set_index("name").loc["step", "self"]))
        expect("polars", len(frame), recording.report("functions").pl().height)


def test_one_row_is_one(root: Path) -> None:
    with fathom.open(small(root)) as recording:
        words = str(refused(recording.sql("SELECT 1, 2").value))
        expect("one row", True, words.startswith("1 row of 2 columns, not one value"))
        words = str(refused(recording.sql("SELECT unnest([1, 2])").value))
        expect("two rows", True, words.startswith("2 rows of 1 column, not one value"))
        for report in (recording.report("overview"), recording.report("files")):
            for table in report.tables:
                noun = "row" if len(table) == 1 else "rows"
                expect("repr", True, repr(table).endswith(f", {len(table)} {noun}>"))


def test_html_is_escaped_and_short(root: Path) -> None:
    with fathom.open(small(root)) as recording:
        text = recording.sql("SELECT '<b>&' AS \"<x>\" FROM range(100)")._repr_html_()
        expect(
            "escaped", (20, True, False), (text.count("<td>&lt;b&gt;&amp;</td>"), "&lt;x&gt;" in text, "<b>" in text)
        )


def test_what_is_not_packed_is_left_so(root: Path) -> None:
    trace = unpacked(root)
    expect("no Parquet yet", [], list(trace.glob("events*.parquet")))
    with fathom.open(trace) as recording:
        expect("opened", 3, recording.events.where("file LIKE '%/copy-_'", name="open").count())
        expect("packed", ([], False), (list(trace.glob("events*.parquet")), recording.describe()["packed"]))
    ran(FATHOM, "collect", "-q", trace)
    with fathom.open(trace) as recording:
        expect("opened, when packed", 3, recording.events.where("file LIKE '%/copy-_'", name="open").count())
        expect("packed by collect", True, recording.describe()["packed"])


def test_several_are_one(root: Path) -> None:
    paths = [invented(root, 1), invented(root, 2)]
    with fathom.open(paths) as both:
        expect("events", 4000, both.events.count())
        expect("hosts", ["host1", "host2"], sorted(row[0] for row in both.sql("SELECT DISTINCT host FROM events")))
        expect("parts", 2, len(both.describe()["parts"]))


def test_threads_may_ask_at_a_time(root: Path) -> None:
    with fathom.open(invented(root, 1)) as recording:
        wanted = recording.sql(BY_NAME).rows()
        answers = []

        def ask() -> None:
            for _ in range(5):
                answers.append(recording.sql(BY_NAME).rows())
            recording.report("functions")

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect("answers", [wanted] * 20, answers)


def test_results_outlive_the_recording(root: Path) -> None:
    with fathom.open(invented(root, 1)) as recording:
        reading = iter(recording.sql("SELECT ts FROM events ORDER BY ts"))
        first = next(reading)
    expect("rows", 1999, len(list(reading)))
    expect("a row", 1, len(first))


def test_asking_leaks_nothing(root: Path) -> None:
    with fathom.open(invented(root, 1)) as recording:

        def memory() -> int:
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

        def ask(times: int) -> int:
            for _ in range(times):
                recording.sql("SELECT * FROM events").rows()
                next(iter(recording.sql("SELECT * FROM events")))
            return memory()

        before = ask(30)
        after = ask(60)
        if after - before > 30e6:
            raise Failure(f"60 queries more took {(after - before) / 1e6:.0f} MB more")


LONG = """
import os, signal, sys, threading
import fathom
recording = fathom.open(sys.argv[1])
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    recording.sql("SELECT sum(a.range % 7 + b.range % 5) FROM range(10000000) a, range(1000000) b").{how}()
except KeyboardInterrupt:
    print("interrupted;", recording.sql("SELECT 41 + 1").value())
"""


def test_a_long_query_can_be_interrupted(root: Path) -> None:
    trace = small(root)
    for how in ("rows", "arrow"):
        if how == "arrow":
            need("pyarrow")
        expect(how, "interrupted; 42\n", ran(sys.executable, "-c", LONG.format(how=how), trace))


def test_memory_has_a_limit(root: Path) -> None:
    trace = small(root)
    with fathom.open(trace, memory="32MiB") as recording:
        large = "SELECT max(length(repeat(repeat('x' || (ts % 2), 1000), 100000))) FROM (FROM events LIMIT 4)"
        told = refused(lambda: recording.sql(large).rows()).message
        expect("refused", "the query needs more memory than 32.0 MiB", told)
        expect("others go on", 1, len(recording.sql("SELECT count(*) FROM events").rows()))
    expect("no limit", "memory 'lots' is not a valid limit", refused(fathom.open, trace, memory="lots").message)


def test_the_summary_has_dfanalyzers_names(root: Path) -> None:
    with fathom.open(small(root)) as recording:
        summary = recording.io_summary()
        counts = {"processes": 2, "threads": 3, "files": 4, "events": 12}
        expect("counts", counts, {name: summary[name] for name in counts})
        # Three preads, an fwrite with its write, an open; a read in another thread at another time.
        expect("application I/O", 3 * 1000 + 20000 + 3000 + 100000, summary["app_io"])
        view = recording.report("overlap").dicts()[0]
        names = {"posix_io", "compute", "unoverlapped_app_io", "unoverlapped_posix_io", "unoverlapped_compute"}
        expect("what nothing hides", {name: view[name] for name in names}, {name: summary[name] for name in names})

# SPDX-License-Identifier: MIT
"""docs/formats/recording.md against recordings: what the page names exists, and what exists is on the page."""

import json
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set

import duck
from kit import BUILD, FATHOM, TOP, Failure, expect, ran, rows

PAGE = TOP / "docs" / "formats" / "recording.md"
ONLY_SQL = ("files", "layers", "losses", "run")
PARQUET = re.compile(r"([a-z]+)(?:-\d+)?\.parquet")
VERSION = re.compile(r"kSchemaVersion = (\d+);")
Table = List[List[str]]

# A child that is killed while it reads (in_flight), and a program without the library (not_covered).
PROGRAM = """
import os, signal, subprocess, sys, time
subprocess.run(["env", "-i", "/bin/cat", "/etc/hostname"], stdout=subprocess.DEVNULL)
with open(sys.argv[1] + "/file", "w") as out:
    out.write("text")
ends = os.pipe()
child = os.fork()
if child == 0:
    os.read(ends[0], 1)
while open(f"/proc/{child}/stat").read().split(") ")[1][0] != "S":
    time.sleep(0.01)
time.sleep(0.2)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
"""


def tables_of_page() -> Dict[str, Table]:
    """The first table below each heading; a row is its cells, without the code marks around a single word."""
    tables: Dict[str, Table] = {}
    heading, ended = "", False
    for line in PAGE.read_text().splitlines():
        if line.startswith("#"):
            heading, ended = line.lstrip("# ").replace("`", ""), False
        elif line.startswith("|") and not ended:
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            tables.setdefault(heading, []).append(cells)
        else:
            ended = ended or heading in tables
    return {name: table[2:] for name, table in tables.items()}


def word(cell: str) -> str:
    return cell.strip("`")


def columns_of_page(table: Table) -> Dict[str, str]:
    return {word(row[0]): row[1] for row in table}


def made_recordings(root: Path) -> List[Path]:
    """Several, since no single one has every key and table."""
    data = root / "data"
    data.mkdir()
    run, text, heap, pfw, part = (root / f"{name}.fathom" for name in ("run", "text", "heap", "pfw", "part"))
    line = {"name": "read", "cat": "POSIX", "ph": "X", "pid": 7, "tid": 7, "ts": 1, "dur": 1}
    (root / "trace.pfw").write_text(json.dumps(line))
    (root / "part.txt").write_text("fathom recording 1\nrun\nuncovered 7 /bin/x unseen what=io_uring\n")
    ran(FATHOM, "run", "-q", "--paths", f"{data},/etc", "-o", run, "--", "python3", "-c", PROGRAM, data)
    ran(FATHOM, "run", "-q", "--layers", "+heap", "-o", heap, "--", "/bin/true")
    ran(FATHOM, "import", TOP / "tests" / "golden" / "small.txt", "-o", text)
    ran(FATHOM, "import", root / "trace.pfw", "-o", pfw)
    ran(FATHOM, "import", root / "part.txt", "-o", part)
    return [run, text, heap, pfw, part]


def keys_of(value: Any, prefix: str, fixed: bool = True) -> Iterator[str]:
    """Keys as the page writes them; those of `environment`, `facts` and `files` are not fixed."""
    if isinstance(value, dict) and fixed:
        for key, inner in value.items():
            name = prefix + key
            yield name
            yield from keys_of(inner, name + ".", key not in ("environment", "facts", "files"))
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from keys_of(item, prefix[:-1] + "[].")


def test_recording_page_has_every_key_of_the_manifest(root: Path) -> None:
    seen: Set[str] = set()
    for trace in made_recordings(root):
        manifest = json.loads((trace / "manifest.json").read_text())
        expect(f"schema of {trace.name}", 3, manifest["schema"])
        seen |= set(keys_of(manifest, ""))
    table = tables_of_page()["manifest.json"]
    expect("keys that the page does not name", [], sorted(seen - {word(row[0]) for row in table}))
    expect("keys of the page that no recording has", [], sorted({word(row[0]) for row in table} - seen))
    partial = json.loads((root / "run.fathom" / "manifest.json").read_text())
    never = {word(row[0]) for row in table if row[2] == "never"}
    missing = {key for key in never if "." not in key and "[" not in key and key not in partial}
    expect("keys that the page says are never missing", set(), missing)


def parquet_files(traces: List[Path], table: str) -> List[Path]:
    paths = [path for trace in traces for path in sorted(trace.iterdir())]
    return [path for path in paths if (match := PARQUET.fullmatch(path.name)) and match[1] == table]


def check_table(files: List[Path], name: str, table: Table) -> None:
    wanted = columns_of_page(table)
    never = [word(row[0]) for row in table if row[2] == "never"]
    with duck.Database(BUILD / "libduckdb.so") as database:
        for path in files:
            described = database.rows(f"SELECT column_name, column_type FROM (DESCRIBE FROM '{path}')")
            expect(f"columns of {path.name}", wanted, dict(described))
            expect(f"order of columns of {path.name}", list(wanted), [column for column, _ in described])
            nulls = ", ".join(f'count(*) FILTER ("{column}" IS NULL)' for column in never)
            counted = database.rows(f"SELECT {nulls} FROM '{path}'")[0]
            wrong = [column for column, count in zip(never, counted) if count != "0"]
            expect(f"columns of {name} that are NULL against the page", [], wrong)


def test_recording_page_has_every_table_and_column(root: Path) -> None:
    traces = made_recordings(root)
    tables = tables_of_page()
    known = {match[1] for trace in traces for path in trace.iterdir() if (match := PARQUET.fullmatch(path.name))}
    page = {name for name, table in tables.items() if table and len(table[0]) == 4 and name != "manifest.json"}
    expect("tables", sorted(known), sorted(page - set(ONLY_SQL)))
    for name in sorted(known):
        check_table(parquet_files(traces, name), name, tables[name])


def test_recording_page_has_the_views_of_sql(root: Path) -> None:
    trace = made_recordings(root)[1]
    tables = tables_of_page()
    more: Dict[str, Dict[str, str]] = {}
    for view, column, kind in tables["SQL views"]:
        more.setdefault(word(view), {})[word(column)] = kind
    for name, table in tables.items():
        if len(table[0]) != 4 or name == "manifest.json":
            continue
        wanted = {**columns_of_page(table), **more.get(name, {})}
        expect(f"columns of {name} in SQL", wanted, columns_in_sql(trace, name))


def columns_in_sql(trace: Path, view: str) -> Dict[str, str]:
    at_least_one = f"SELECT v.* FROM (SELECT 1) LEFT JOIN (SELECT * FROM {view} LIMIT 1) v ON true"
    names = list(rows(trace, at_least_one)[0])
    kinds = ", ".join(f'typeof(any_value("{name}")) AS "{name}"' for name in names)
    return rows(trace, f"SELECT {kinds} FROM {view}")[0]


def test_recording_page_has_every_layer(root: Path) -> None:
    del root
    text = columns_text(tables_of_page()["events"], "layer")
    listed = json.loads(ran(FATHOM, "doctor", "--format", "json"))
    expect("layers", " ".join(layer["layer"] for layer in listed["layers"]), text)


def columns_text(table: Table, column: str) -> str:
    """What the page says of a column."""
    return next(word(row[3]) for row in table if word(row[0]) == column)


LATER = {
    "events": ["program"],
    "summary": ["program", "process", "peer"],
    "processes": ["nspid", "image", "process", "rung"],
    "threads": ["ready"],
}


def make_schema_1(trace: Path) -> None:
    """As an older Fathom wrote it: without the columns that came later."""
    with duck.Database(BUILD / "libduckdb.so") as database:
        for table, columns in LATER.items():
            for path in parquet_files([trace], table):
                old = path.with_suffix(".old")
                kept = f"SELECT * EXCLUDE ({', '.join(columns)}) FROM '{path}'"
                database.rows(f"COPY ({kept}) TO '{old}' (FORMAT parquet)")
                old.rename(path)
    manifest = json.loads((trace / "manifest.json").read_text())
    (trace / "manifest.json").write_text(json.dumps({**manifest, "schema": 1}))


def test_recording_of_schema_1_is_read(root: Path) -> None:
    old, new = root / "old.fathom", root / "new.fathom"
    for trace in (old, new):
        ran(FATHOM, "run", "-q", "-o", trace, "--", "sh", "-c", "cat /etc/hostname; exit 0")
    make_schema_1(old)
    count = "SELECT count(*) AS events, count(program) AS named FROM events"
    (alone,) = rows(old, count)
    expect("programs that an old recording names", "0", str(alone["named"]))
    (both,) = rows(root, count)
    expect("programs of a new one beside it", str(both["named"]), str(int(both["events"]) - int(alone["events"])))
    text = ran(FATHOM, "report", old)
    expect("processes in its first sentence", True, " 2 processes, " in text)
    ran(FATHOM, "report", old, "processes")


def test_a_file_that_lacks_columns_is_named(root: Path) -> None:
    trace = root / "lacks.fathom"
    ran(FATHOM, "run", "-q", "-o", trace, "--", "cat", "/etc/hostname")
    (path,) = parquet_files([trace], "events")
    with duck.Database(BUILD / "libduckdb.so") as database:
        new = path.with_suffix(".new")
        database.rows(f"COPY (SELECT * EXCLUDE (program, depth) FROM '{path}') TO '{new}' (FORMAT parquet)")
        new.rename(path)
    info = json.loads(ran(FATHOM, "info", trace, "--format", "json"))
    expect("state", "partial", info["state"])
    expect("damaged files", [{"path": str(path), "reason": "lacks columns depth and program"}], info["damaged"])
    words = [line["text"] for line in json.loads(ran(FATHOM, "report", trace, "--format", "json"))["words"]]
    expect("words", True, f"Damaged and left out: {path} (lacks columns depth and program)." in words)


def patterns_of(table: Table) -> List["re.Pattern[str]"]:
    """`events-N.parquet` as a pattern. Words in capital letters stand for something."""
    names = [name for row in table for name in re.findall(r"`([^`]+)`", row[0])]
    found = []
    for name in names:
        text = re.escape(name.rstrip("/")).replace("\\-", "-")
        text = re.sub(r"\bTABLE\b", "[a-z]+", text)
        text = re.sub(r"\b(NUMBER|N|PID)\b", r"\\d+", text)
        found.append(re.compile(re.sub(r"\b(HASH|KEY)\b", "[0-9a-f]+", text)))
    return found


def unnamed(paths: Iterator[Path], table: Table) -> List[str]:
    patterns = patterns_of(table)
    return sorted(path.name for path in paths if not any(one.fullmatch(path.name) for one in patterns))


def test_recording_page_names_every_file(root: Path) -> None:
    tables = tables_of_page()
    for trace in made_recordings(root):
        expect(f"files of {trace.name} that the page does not name", [], unnamed(trace.iterdir(), tables["Files"]))
    loose = root / "loose.fathom"
    preload = {"LD_PRELOAD": str(BUILD / "libfathom.so"), "FATHOM_OUT": str(loose)}
    ran("/bin/cat", "/etc/hostname", env=preload)
    spool = loose / "spool"
    if not spool.is_dir():
        raise Failure("a run without a recorder has no spool")
    expect("files of a spool that the page does not name", [], unnamed(spool.iterdir(), tables["Files of spool/"]))


def test_recording_page_has_the_version_of_the_code(root: Path) -> None:
    found = [match[1] for path in (TOP / "src").rglob("manifest.h") if (match := VERSION.search(path.read_text()))]
    expect("kSchemaVersion", ["3"], found)
    expect("title", "# The recording, schema 3", PAGE.read_text().splitlines()[0])

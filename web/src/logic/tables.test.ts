// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, mostOf, powerBars, shadeOf } from "./bins";
import { boundsOfValues } from "./axis";
import { chartOf, pieces, thinned, valuesOf } from "./chart";
import { statementText } from "../api/statements";
import { boundsOf, busiestRange, busyBins, onlyProcess, placeIn, whereIn, withRoom } from "./places";
import { sqlText } from "./sql_text";
import { insightsOf, measureOf, noteOf, tableKeys, tableOf, titleOf, wordsOf, type Report } from "./report";
import { placeOfRows } from "./sql_result";
import { atOnce } from "./slices";
import { cellText, isNumeric, nextOrder, orderedRows, orderIn, orderText, RowTexts, visibleRows } from "./table";

test("histograms have no gaps", () => {
  const bars = powerBars([
    { from: 4, calls: 2 },
    { from: 0, calls: 1 },
    { from: 16, calls: 3 },
    { from: 4, calls: 5 },
  ]);
  assert.deepEqual(
    bars.map((bar) => [bar.from, bar.to, bar.count]),
    [
      [0, 2, 1],
      [2, 4, 0],
      [4, 8, 7],
      [8, 16, 0],
      [16, 32, 3],
    ],
  );
  assert.deepEqual(powerBars([]), []);
});

test("shades: nothing is 0, the most is the last, any work is visible", () => {
  assert.equal(shadeOf(0, 100, 16, false), 0);
  assert.equal(shadeOf(100, 100, 16, false), 15);
  assert.equal(shadeOf(100, 100, 16, true), 15);
  assert.equal(shadeOf(1, 1e9, 16, false), 1);
  assert.ok(shadeOf(1000, 1e9, 16, true) > 4);
  assert.equal(mostOf([[1, 5], [], [3]]), 5);
});

test("a point of a heat map belongs to one cell", () => {
  const size = { width: 100, height: 40, columns: 10, rows: 4 };
  assert.deepEqual(cellAt(99.9, 39.9, size), { column: 9, row: 3 });
  assert.equal(cellAt(100, 0, size), undefined);
  assert.equal(cellAt(-1, 0, size), undefined);
});

const REPORT: Report = {
  words: [{ text: "work: 1.00 ms wall time." }],
  insights: [{ rule: "small-reads", severity: "high", title: "t", says: "s", gain: null, why: "", try: "" }],
  time_by_layer: [{ layer: "app", self: 777000, share: 38.85, bytes: null }],
  notes: { time_by_layer: "a note" },
  units: { time_by_layer: { self: "ns", share: "percent", bytes: "bytes" } },
};

test("a report becomes words, insights and tables with units", () => {
  assert.deepEqual(wordsOf(REPORT), ["work: 1.00 ms wall time."]);
  assert.equal(insightsOf(REPORT)[0]?.rule, "small-reads");
  assert.deepEqual(tableKeys(REPORT), ["time_by_layer"]);
  const table = tableOf(REPORT, "time_by_layer");
  assert.deepEqual(
    table.rows[0]!.map((cell, at) => cellText(cell, table.columns[at]!.measure)),
    ["app", "777 us", "38.9 %", "-"],
  );
  assert.equal(noteOf(REPORT, "time_by_layer"), "a note");
  assert.equal(titleOf("i_o_sizes"), "I/O sizes");
  assert.equal(titleOf("cpu_over_time"), "CPU over time");
  assert.equal(titleOf("gpus_from_the_first"), "GPUs from the first");
  assert.equal(measureOf(REPORT, "time_by_layer", "share"), "percent");
  assert.equal(measureOf(REPORT, "time_by_layer", "layer"), "none");
  assert.equal(measureOf({}, "anything", "pid"), "none");
});

test("rows are sorted as people expect; what is missing stays last", () => {
  const rows = [
    ["b", 2],
    ["a", null],
    ["c", 10],
    ["a", 2],
  ];
  assert.deepEqual(orderedRows(rows, undefined), [0, 1, 2, 3]);
  assert.deepEqual(orderedRows(rows, { column: 1, descending: true }), [2, 0, 3, 1]);
  assert.deepEqual(orderedRows(rows, { column: 1, descending: false }), [0, 3, 2, 1]);
  assert.deepEqual(orderedRows(rows, { column: 0, descending: false }), [1, 3, 0, 2]);
  assert.deepEqual(nextOrder(undefined, 1, true), { column: 1, descending: true });
  assert.deepEqual(nextOrder({ column: 1, descending: true }, 1, true), { column: 1, descending: false });
  assert.equal(nextOrder({ column: 1, descending: false }, 1, true), undefined);
  assert.deepEqual(nextOrder({ column: 1, descending: false }, 0, false), { column: 0, descending: false });

  test("the order of a table survives the address", () => {
    const columns = ["name", "time of all", "name", "2"].map((name) => ({ name, measure: "none" as const }));
    for (const [column, name] of ["name", "time of all", "2", "2"].entries()) {
      for (const descending of [true, false]) {
        const text = orderText({ column, descending }, columns);
        assert.equal(text, `${name} ${descending ? "descending" : "ascending"}`);
        // A column whose name is a number goes before a place.
        assert.deepEqual(orderIn(text, columns), { column: column === 2 ? 3 : column, descending });
      }
    }
    assert.deepEqual(orderIn("2 ascending", columns.slice(0, 3)), { column: 2, descending: false });
    for (const nothing of ["", "name", "other ascending", "9 ascending", "name up"])
      assert.equal(orderIn(nothing, columns), undefined, nothing);
  });
});

test("numbers stand right, also in columns without a unit", () => {
  const table = {
    columns: [
      { name: "pid", measure: "none" as const },
      { name: "x", measure: "none" as const },
    ],
    rows: [
      [1, "a"],
      [null, 2],
    ],
  };
  assert.equal(isNumeric(table, 0), true);
  assert.equal(isNumeric(table, 1), false);
});

test("only rows near the screen are drawn", () => {
  assert.deepEqual(visibleRows(0, 200, 20, 1_000_000), { first: 0, end: 18 });
  assert.deepEqual(visibleRows(10_000, 200, 20, 1_000_000), { first: 492, end: 518 });
  assert.deepEqual(visibleRows(10_000, 200, 20, 3), { first: 0, end: 3 });
});

test("a rule says its place itself", () => {
  const said = "samples where event = 'x'\n  AND pid = 7";
  assert.deepEqual(placeIn(said), { view: "timeline", of: "samples", where: "event = 'x'\n  AND pid = 7", said });
  assert.deepEqual(placeIn("view gpu"), { view: "gpu" });
  for (const nowhere of [null, undefined, "", "files where true", "view <b>"]) {
    assert.equal(placeIn(nowhere), undefined);
  }
});

test("what is selected bounds a place", () => {
  assert.equal(whereIn("events", "true", {}), "(true)");
  const part = { hosts: ["a'"], pids: [7, 8], tids: [9], layers: ["posix"], where: "bytes > 0 OR true" };
  assert.equal(
    whereIn("events", "name = 'x' OR true", part),
    "(name = 'x' OR true) AND (host IN ('a''')) AND (pid IN (7, 8)) AND (tid IN (9)) AND (layer IN ('posix')) AND (bytes > 0 OR true)",
  );
  assert.equal(whereIn("samples", "true", part), "(true) AND (host IN ('a''')) AND (pid IN (7, 8)) AND (tid IN (9))");
  assert.equal(whereIn("processes", "true", part), "(true) AND (host IN ('a''')) AND (pid IN (7, 8))");
  assert.deepEqual(boundsOf({ from: 5, to: null }, 100), { from: 5, to: 100 });
  assert.deepEqual(withRoom(1000, 2000, { from: 995, to: null }), { from: 995, to: 2010 });
  assert.deepEqual(withRoom(1000, 2000, { from: null, to: 2001 }), { from: 990, to: 2001 });
});

test("the busiest stretch is found", () => {
  const bins = busyBins([
    [3, 10, "a", "a", 1, 1],
    [4, 90, "a", "a", "1", 1],
    [5, 80, "a", "a", 1, 1],
    [9, 70, "a", "a", 1, 1],
  ]);
  assert.deepEqual(busiestRange(bins, { from: 0, to: 1000 }), [40, 60]);
  assert.deepEqual(busiestRange(bins, { from: 500, to: 1500 }), [540, 560]);
  assert.equal(busiestRange([], { from: 0, to: 1000 }), undefined);
  assert.deepEqual(onlyProcess(bins), { hosts: ["a"], pids: [1] });
  assert.equal(onlyProcess(busyBins([[3, 10, "a", "b", 1, 1]])), undefined);
  assert.equal(onlyProcess(busyBins([[3, 10, "a", "a", 1, 2]])), undefined);
  assert.equal(onlyProcess(busyBins([[3, 10, "", "", null, null]])), undefined);
  assert.deepEqual(onlyProcess(busyBins([[3, 10, "", "", 4, 4]])), { hosts: [], pids: [4] });
  const rows = statementText("rows_of_events", { from: 1, to: 9, where: "name = '{from}'" });
  assert.match(rows, /greatest\(ts, 1\).* AND \(name = '\{from\}'\)$/);
  assert.ok(statementText("busiest", { from: 1, width: 2, rows }).includes(`FROM (${rows})`));
  assert.equal(sqlText("it's"), "'it''s'");
});

test("rows of a query suggest a picture", () => {
  const columns = (...names: string[]) => names.map((name) => ({ name, measure: "none" as const }));
  assert.deepEqual(
    chartOf({
      columns: columns("t", "a"),
      rows: [
        [1, 5],
        [2, 3],
      ],
    }),
    { kind: "line", x: 0, y: [1] },
  );
  assert.deepEqual(
    chartOf({
      columns: columns("name", "n"),
      rows: [
        ["a", 5],
        ["b", 3],
      ],
    }),
    { kind: "bars", x: 0, y: [1] },
  );
  assert.deepEqual(
    chartOf({
      columns: columns("name", "n", "time"),
      rows: [
        ["a", 5, 9],
        ["b", 7, 3],
      ],
    })?.y,
    [2],
    "the column that the rows are sorted by",
  );
  assert.equal(chartOf({ columns: columns("name"), rows: [["a"], ["b"]] }), undefined);
  const rows = [
    ["posix", "read", 10, 7, 3],
    ["posix", "open", 20, 7, 2],
  ];
  const chart = chartOf({ columns: columns("layer", "name", "ts", "pid", "dur"), rows });
  assert.deepEqual(chart, { kind: "bars", x: 1, y: [4] }, "names that differ, and no times or numbers of processes");
});

test("a line of many points keeps its highest and lowest ones", () => {
  const points = Array.from({ length: 200_000 }, (_none, at) => [at / 1000, at === 77_777 ? 9 : at % 3] as const);
  const kept = thinned(points);
  assert.ok(kept.length <= 4 * 200, `${kept.length}`);
  assert.ok(kept.includes(9) && kept.includes(0));
  assert.deepEqual(
    thinned([
      [0, 1],
      [5, 2],
    ]),
    [0, 1, 5, 2],
  );
});

test("what has no value is no zero: a column's sort, its bounds and its line leave it out", () => {
  const columns = ["name", "n", "change"].map((name) => ({ name, measure: "none" as const }));
  const rows = [
    ["a", 1, 4],
    ["b", 2, null],
    ["c", 3, -6],
    ["d", 4, -7],
    ["e", 5, null],
  ];
  assert.deepEqual(chartOf({ columns, rows })?.y, [2], "sorted, with what is NULL anywhere");
  const values = valuesOf({ columns, rows }, 2);
  assert.deepEqual(values, [4, null, -6, -7, null]);
  assert.deepEqual(boundsOfValues([values, [1]]), { low: -7, high: 4 });
  assert.deepEqual(boundsOfValues([[null, 3, 5]]), { low: 0, high: 5 });
  assert.deepEqual(pieces(values.map((value, at) => (value === null ? null : ([at, value] as const)))), [
    [[0, 4]],
    [
      [2, -6],
      [3, -7],
    ],
  ]);
});

test("a search keeps the rows that hold the text, in their order", () => {
  const table = {
    columns: [
      { name: "a", measure: "none" as const },
      { name: "b", measure: "ns" as const },
    ],
    rows: [
      ["x", 1],
      ["Read", 2],
      ["z", 1500],
    ],
  };
  const texts = new RowTexts(table);
  const found = (text: string) => atOnce(texts.matching([2, 1, 0], text));
  assert.deepEqual(found("read"), [1]);
  assert.deepEqual(found(" READ"), [1]);
  assert.deepEqual(found("1.50 us"), [2]);
});

test("a row that has a time has a place", () => {
  assert.equal(placeOfRows(["name", "dur"]), undefined);
  const place = placeOfRows(["name", "ts", "dur", "tid"])!;
  assert.deepEqual(place(["read", 100, 20, 7]), { from: 100, to: 120, tids: [7] });
  assert.deepEqual(place(["read", "100", null, null]), { from: 100, to: 101 });
  assert.equal(place(["read", null, 20, 7]), undefined);
});

test("notes leave out what only helps on a command line", () => {
  const report = { a: [], notes: { a: "10 of 489 functions shown; --top 0 shows all", b: "total: of the host" } };
  assert.equal(noteOf(report, "a"), "10 of 489 functions shown");
  assert.equal(noteOf(report, "b"), "total: of the host");
});

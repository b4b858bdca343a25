// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeColour, heatColours, hexOf, mixed, rgbOf, spread } from "./colours";
import { ticksOf } from "./axis";
import type { Measure } from "./units";
import { fileTable, histogramRows } from "./file_rows";
import { alertsIn, alertsOf, kindSums, median, rowsPerSecond, shellJoin, trends, withSecond } from "./fleet";
import { binRange, heatCells, pixelsOf, placeOfRow } from "./heat";
import { lossesOf } from "./losses";
import { resultTable } from "./sql_result";

test("colours survive the way to text and back", () => {
  assert.equal(hexOf(rgbOf("#1a2b3c")), "#1a2b3c");
  assert.deepEqual(mixed([0, 0, 0], [100, 200, 50], 0.5), [50, 100, 25]);
  assert.equal(spread("read"), spread("read"));
  assert.notEqual(spread("read"), spread("write"));
});

test("less is blue, more is red, and neither is stronger than the other", () => {
  assert.equal(changeColour(0, [200, 200, 200]), "#c8c8c8");
  assert.equal(changeColour(-1, [200, 200, 200]), "#2166ac");
  assert.equal(changeColour(1, [200, 200, 200]), "#b2182b");
  assert.equal(changeColour(7, [200, 200, 200]), "#b2182b");
});

test("heat: the ground is where nothing was; each shade is darker than the one before on a light page", () => {
  const colours = heatColours(16, [250, 250, 250], false);
  assert.equal(colours.length, 16);
  assert.deepEqual(colours[0], [250, 250, 250]);
  const light = colours.map(([red, green, blue]) => 0.3 * red + 0.6 * green + 0.1 * blue);
  for (let at = 1; at < 16; ++at) assert.ok(light[at]! < light[at - 1]!, String(at));
});

test("heat maps are a pixel a cell", () => {
  const heat = heatCells(
    [
      [0, 4],
      [2, 0, 4],
    ],
    4,
  );
  assert.deepEqual([heat.columns, heat.rows], [3, 2]);
  const pixels = pixelsOf(
    heat,
    [
      [1, 1, 1],
      [2, 2, 2],
      [3, 3, 3],
    ],
    false,
  );
  const reds = [...pixels].filter((_, at) => at % 4 === 0);
  assert.deepEqual(reds, [1, 3, 1, 3, 1, 3]);
  assert.ok([...pixels].every((value, at) => at % 4 !== 3 || value === 255));
});

test("a row of a heat map selects its thread or process", () => {
  assert.deepEqual(placeOfRow("thread", "alpha/10/11"), { hosts: ["alpha"], pids: [10], tids: [11] });
  assert.deepEqual(placeOfRow("thread", "/10/11"), { pids: [10], tids: [11] });
  assert.deepEqual(placeOfRow("process", "alpha/10"), { hosts: ["alpha"], pids: [10] });
  assert.deepEqual(placeOfRow("file", "/data/it's/11"), { where: "file = '/data/it''s/11'" });
  const tracks = [
    { kind: "process", host: "a", pid: 7, rank: 3 },
    { kind: "process", host: "b", pid: 7, rank: 3 },
    { kind: "thread", host: "a", pid: 8, rank: 3 },
    { kind: "process", host: "a", pid: 9, rank: 4 },
  ];
  assert.deepEqual(placeOfRow("rank", "3", tracks), { hosts: ["a", "b"], pids: [7] });
  assert.deepEqual(placeOfRow("rank", "5", tracks), {});
  assert.deepEqual(binRange(1000, 50, 3), [1150, 1200]);
});

test("marks of an axis are round numbers of its unit", () => {
  const said = (low: number, high: number, measure: Measure) => ticksOf(low, high, measure).map(({ text }) => text);
  assert.deepEqual(said(0, 40e6, "bytes"), ["0 B", "16 MiB", "32 MiB", "48 MiB"]);
  assert.deepEqual(said(0, 1, "bytes"), ["0 B", "1 B"]);
  assert.deepEqual(said(0, 1.2 * 2 ** 20, "bytes"), ["0 B", "512 KiB", "1 MiB", "1.5 MiB"]);
  assert.deepEqual(said(0, 0, "count"), ["0", "1"]);
  assert.deepEqual(said(0, 3, "count"), ["0", "1", "2", "3"]);
  assert.deepEqual(said(0, 0.7, "count"), ["0", "0.2", "0.4", "0.6", "0.8"]);
  assert.deepEqual(said(0, 12_000, "count"), ["0", "5,000", "10,000", "15,000"]);
  assert.deepEqual(said(0, 37, "percent"), ["0 %", "10 %", "20 %", "30 %", "40 %"]);
  assert.deepEqual(said(0, 0, "percent"), ["0 %", "1 %"]);
  assert.deepEqual(said(-3, 3, "count"), ["-4", "-2", "0", "2", "4"]);
});

test("files have the pattern of their calls", () => {
  const files = {
    files_by_time: [
      { file: "/a", time: 5, share: 1, calls: 2, errors: 0, read: 7, written: 8 },
      { file: "/b", time: 1 },
    ],
  };
  const patterns = {
    access_patterns: [
      { file: "/a", direction: "read", pattern: "random" },
      { file: "/a", direction: "write", pattern: "consecutive" },
    ],
  };
  const table = fileTable(files, patterns);
  assert.deepEqual(table.rows[0]!.slice(0, 4), ["/a", "read random, write consecutive", 5, 1]);
  assert.equal(table.rows[1]![1], null);
  assert.equal(fileTable(files, null).rows.length, 2);
});

test("a histogram is of one layer, since several may have seen the same call", () => {
  const row = (layer: string, category: string, from: number, calls: number) => ({ layer, category, from, calls });
  const report = {
    sizes: [
      row("stdio", "write", 64, 1),
      row("posix", "write", 64, 5),
      row("posix", "read", 0, 2),
      row("app", "x", 0, 99),
    ],
  };
  assert.deepEqual(histogramRows(report, "sizes", "all", ""), {
    layer: "posix",
    rows: [
      { from: 64, calls: 5 },
      { from: 0, calls: 2 },
    ],
  });
  assert.deepEqual(histogramRows(report, "sizes", "write", "stdio").rows, [{ from: 64, calls: 1 }]);
});

test("losses are read in every form", () => {
  assert.deepEqual(lossesOf(0), []);
  assert.deepEqual(lossesOf(1234), ["1,234 events"]);
  assert.deepEqual(lossesOf([{ layer: "posix", reason: "spool full", count: 3 }]), ["posix: 3 (spool full)"]);
  assert.deepEqual(lossesOf(null), []);
});

test("columns of SQL with a known name have its unit, unless every digit is wanted", () => {
  const result = {
    columns: [
      { name: "dur", type: "BIGINT" },
      { name: "name", type: "VARCHAR" },
    ],
    rows: [[1500, "x"]],
  };
  assert.deepEqual(
    resultTable(result, false).columns.map((column) => column.measure),
    ["ns", "none"],
  );
  assert.deepEqual(
    resultTable(result, true).columns.map((column) => column.measure),
    ["none", "none"],
  );
  const sums = { columns: [{ name: "n", type: "HUGEINT" }], rows: [["12"], ["9007199254740993"], [null]] };
  assert.deepEqual(resultTable(sums, true).rows, [[12], ["9007199254740993"], [null]]);
});

const second = (time: number, rows: number) => ({
  time,
  arrived: [{ job: "j", kind: "profile", batches: 1, rows }],
  clients: [{ client: "node7", job: "j", batches: 1, rows }],
  left_out: 0,
  clients_left_out: 0,
});

test("what arrived is kept for five minutes and added up", () => {
  let seconds = withSecond([], second(1000, 5));
  seconds = withSecond(seconds, second(1001, 7));
  seconds = withSecond(seconds, second(1001, 8));
  assert.deepEqual(kindSums(seconds), [{ name: "profile", job: "j", batches: 2, rows: 13, last: 1001 }]);
  assert.deepEqual(rowsPerSecond(seconds, 1001, 3), [0, 5, 8]);
  assert.equal(withSecond(seconds, second(1400, 1)).length, 1);
});

test("trends: a line for each benchmark and machine, without runs that failed", () => {
  const record = (wall: number, cpu: string, exit = 0) => ({
    command: ["sort", "x"],
    machine: { cpu },
    runs: [{ exit, wall }],
  });
  const lines = trends([record(1, "a"), record(5, "b"), record(3, "a"), record(9, "a", 1)], "wall");
  assert.deepEqual(
    lines.map(({ name, medians }) => [name, medians]),
    [
      ["sort x", [1, 3, null]],
      ["sort x", [5]],
    ],
  );
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1]), 2.5);
  assert.deepEqual(trends([{ runs: "damaged" }], "wall")[0]?.medians, [null]);
});

test("alerts stand at the record of their own line, for the metric that is shown", () => {
  const record = (wall: number, name: string) => ({ command: [name], runs: [{ exit: 0, wall }] });
  const [a, b] = trends([record(1, "a"), record(1, "b"), record(2, "a")], "wall");
  const change = { benchmark: "a", metric: "wall", before: 1, after: 2 };
  const alerts = alertsIn({ alerts: [{ index: 2, changes: [change] }, { index: "x" }, null] });
  assert.equal(alerts.length, 1);
  assert.deepEqual(alertsOf(a!, "wall", alerts), [{ at: 1, before: 1, after: 2 }]);
  assert.deepEqual(alertsOf(a!, "user", alerts), []);
  assert.deepEqual(alertsOf(b!, "wall", alerts), []);
  assert.deepEqual(alertsIn(null), []);
  // Noticed at a record of another benchmark: the next one of its own.
  const between = [{ index: 1, changes: [change] }];
  assert.deepEqual(alertsOf(a!, "wall", between), [{ at: 1, before: 1, after: 2 }]);
  const elsewhere = [{ index: 2, changes: [{ ...change, host: "other" }] }];
  assert.deepEqual(alertsOf({ ...a!, host: "here" }, "wall", elsewhere), []);
  assert.equal(shellJoin(["./solve", "a b", "it's", ""]), "./solve 'a b' 'it'\\''s' ''");
});

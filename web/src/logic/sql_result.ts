// SPDX-License-Identifier: MIT
// What a query answered, as a table. Columns of SQL have types and no units; those whose names the
// contract fixes (docs/formats/recording.md) are shown with theirs.
import type { Cell } from "./csv";
import type { TableData } from "./table";
import type { Measure } from "./units";

const UNITS: Record<string, Measure> = {
  ts: "ns",
  dur: "ns",
  self: "ns",
  wall: "ns",
  total: "ns",
  time: "ns",
  dur_min: "ns",
  dur_max: "ns",
  start: "ns",
  end: "ns",
  width: "ns",
  bytes: "bytes",
  size: "bytes",
  offset: "bytes",
  calls: "count",
  errors: "count",
  count: "count",
  events: "count",
};

export interface QueryResult {
  columns: { name: string; type: string }[];
  rows: Cell[][];
}

function isNumberType(type: string): boolean {
  return /INT|DOUBLE|FLOAT|DECIMAL|REAL|HUGE/i.test(type);
}

// Sums are wider than what JSON counts exactly, and come as texts; most are small enough all the same.
function asNumber(cell: Cell): Cell {
  if (typeof cell !== "string" || !/^-?\d{1,16}$/.test(cell)) return cell;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}

// `exact` shows every digit, as `fathom sql` does.
export function resultTable(result: QueryResult, exact: boolean): TableData {
  const columns = result.columns.map(({ name, type }) => {
    const unit = isNumberType(type) ? UNITS[name.toLowerCase()] : undefined;
    const measure: Measure = exact || !unit ? "none" : unit;
    return { name, measure };
  });
  const numeric = result.columns.map(({ type }) => isNumberType(type));
  const isText = (cell: Cell): boolean => typeof cell === "string";
  const rows = result.rows.map((row) =>
    row.some((cell, at) => numeric[at] && isText(cell))
      ? row.map((cell, at) => (numeric[at] ? asNumber(cell) : cell))
      : row,
  );
  return { columns, rows };
}

export interface RowPlace {
  from: number;
  to: number;
  pids?: number[];
  tids?: number[];
}

// How to find a row's place in the timeline, where the columns tell when it was.
export function placeOfRows(names: readonly string[]): ((row: readonly Cell[]) => RowPlace | undefined) | undefined {
  const [ts, dur, width, pid, tid] = ["ts", "dur", "width", "pid", "tid"].map((name) => names.indexOf(name)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (ts < 0) return undefined;
  const number = (row: readonly Cell[], at: number): number | undefined => {
    const cell = at < 0 ? null : asNumber(row[at] ?? null);
    return typeof cell === "number" ? cell : undefined;
  };
  return (row) => {
    const from = number(row, ts);
    if (from === undefined) return undefined;
    const length = number(row, dur) ?? number(row, width) ?? 0;
    const [process, thread] = [number(row, pid), number(row, tid)];
    return {
      from,
      to: from + Math.max(length, 1),
      ...(process === undefined ? {} : { pids: [process] }),
      ...(thread === undefined ? {} : { tids: [thread] }),
    };
  };
}

// SPDX-License-Identifier: MIT
// Which picture suits the rows of a query: a line where the first column grows, else bars.
import type { TableData } from "./table";
import { isNumeric } from "./table";

export interface Chart {
  kind: "line" | "bars";
  x: number; // the column of places or names
  y: number[]; // columns of numbers
}

const MOST_BARS = 60;
const MOST_LINES = 6;

function grows(table: TableData, column: number): boolean {
  const cells = table.rows.map((row) => row[column]);
  return cells.every((cell, at) => {
    const before = at > 0 ? cells[at - 1] : -Infinity;
    return typeof cell === "number" && typeof before === "number" && cell > before;
  });
}

// The column that the rows are sorted by is what was asked for; equal values alone say nothing.
function falls(table: TableData, column: number): boolean {
  const cells = table.rows.map((row) => Number(row[column] ?? 0));
  return cells[0]! > cells.at(-1)! && cells.every((cell, at) => at === 0 || cell <= cells[at - 1]!);
}

const NO_AMOUNT = new Set("ts start end first last pid ppid tid rank cpu fd line stack depth bin offset".split(" "));

function differ(table: TableData, column: number): boolean {
  return new Set(table.rows.map((row) => row[column])).size === table.rows.length;
}

export function chartOf(table: TableData): Chart | undefined {
  const numeric = table.columns.map((_, column) => isNumeric(table, column));
  if (table.rows.length < 2) return undefined;
  const numbers = numeric.flatMap((is, column) => (is ? [column] : []));
  if (numeric[0] && numbers.length > 1 && grows(table, 0)) {
    return { kind: "line", x: 0, y: numbers.slice(1, 1 + MOST_LINES) };
  }
  // Bars have names that differ, and lengths that can be compared: a time of day or a number of a process has none.
  const name = numeric.findIndex((is, column) => !is && differ(table, column));
  const amounts = numbers.filter((column) => !NO_AMOUNT.has(table.columns[column]!.name));
  if (name < 0 || amounts.length === 0 || table.rows.length > MOST_BARS) return undefined;
  const sorted = amounts.find((column) => falls(table, column));
  return { kind: "bars", x: name, y: [sorted ?? amounts[0]!] };
}

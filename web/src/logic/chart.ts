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
  let before = -Infinity;
  for (const row of table.rows) {
    const cell = row[column];
    if (typeof cell !== "number" || cell <= before) return false;
    before = cell;
  }
  return true;
}

// The column that the rows are sorted by is what was asked for; equal values alone say nothing.
function falls(table: TableData, column: number): boolean {
  const cells = valuesOf(table, column).filter((value) => value !== null);
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
  const amounts = numbers.filter((column) => !NO_AMOUNT.has(table.columns[column]!.name));
  const lines = amounts.filter((column) => column > 0);
  if (numeric[0] && lines.length > 0 && grows(table, 0)) return { kind: "line", x: 0, y: lines.slice(0, MOST_LINES) };
  // Bars have names that differ, and lengths that can be compared: a time of day or a number of a process has none.
  if (table.rows.length > MOST_BARS) return undefined;
  const name = numeric.findIndex((is, column) => !is && differ(table, column));
  if (name < 0 || amounts.length === 0) return undefined;
  const sorted = amounts.find((column) => falls(table, column));
  return { kind: "bars", x: name, y: [sorted ?? amounts[0]!] };
}

// What is NULL, or no number that has a place, has no value.
export function valuesOf(table: TableData, column: number): (number | null)[] {
  return table.rows.map((row) => {
    const cell = row[column] ?? null;
    const value = cell === null || cell === "" ? NaN : Number(cell);
    return Number.isFinite(value) ? value : null;
  });
}

type Point = readonly [number, number];

// A line as the pieces between points that have no value.
export function pieces(points: readonly (Point | null)[]): Point[][] {
  const found: Point[][] = [];
  let open = false;
  for (const point of points) {
    if (point && open) found.at(-1)!.push(point);
    else if (point) found.push([point]);
    open = point !== null;
  }
  return found;
}

// Points of a line that grows in x, as [x, y, …]. Of those that share a pixel, the lowest and the highest are enough.
export function thinned(points: readonly Point[]): number[] {
  const found: number[] = [];
  for (let at = 0; at < points.length;) {
    const pixel = Math.floor(points[at]![0]);
    let [low, high] = [at, at];
    for (; at < points.length && Math.floor(points[at]![0]) === pixel; ++at) {
      if (points[at]![1] < points[low]![1]) low = at;
      if (points[at]![1] > points[high]![1]) high = at;
    }
    const [first, second] = low < high ? [low, high] : [high, low];
    found.push(...points[first]!);
    if (second !== first) found.push(...points[second]!);
  }
  return found;
}

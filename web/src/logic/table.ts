// SPDX-License-Identifier: MIT
// Tables of any size: which rows are on the screen, in which order, and how a cell reads.
import type { Cell } from "./csv";
import { escapeName } from "./escape";
import { humanNumber, type Measure } from "./units";

export interface TableColumn {
  name: string;
  measure: Measure;
}

export interface TableData {
  columns: TableColumn[];
  rows: Cell[][];
  note?: string;
}

export function cellText(cell: Cell, measure: Measure): string {
  if (cell === null || cell === undefined) return "-";
  if (typeof cell === "string") return escapeName(cell);
  if (typeof cell === "number") return humanNumber(cell, measure);
  return typeof cell === "object" ? escapeName(JSON.stringify(cell)) : String(cell);
}

// Columns of numbers stand at the right edge, as on a terminal.
export function isNumeric(table: TableData, column: number): boolean {
  if (table.columns[column]!.measure !== "none") return true;
  let found = false;
  for (const row of table.rows) {
    const cell = row[column];
    if (cell === null || cell === undefined) continue;
    if (typeof cell !== "number") return false;
    found = true;
  }
  return found;
}

export interface Order {
  column: number;
  descending: boolean;
}

function compareCells(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : Number(String(a) !== String(b));
}

// Places of rows in order. What is NULL is last either way; equal rows stay as they were.
export function orderedRows(rows: readonly Cell[][], order: Order | undefined): number[] {
  const places = rows.map((_, at) => at);
  if (!order) return places;
  const sign = order.descending ? -1 : 1;
  const isNull = (cell: Cell) => cell === null || cell === undefined;
  return places.sort((a, b) => {
    const [left, right] = [rows[a]![order.column], rows[b]![order.column]];
    if (isNull(left) || isNull(right)) return Number(isNull(left)) - Number(isNull(right)) || a - b;
    return sign * compareCells(left, right) || a - b;
  });
}

// What the search looks for in the rows of a table: their cells as they read, in lower case, one text a row. A row's text is
// made when it is first needed and kept, so that another letter typed costs a look through texts and no more.
export class RowTexts {
  private readonly texts: string[] = [];

  constructor(private readonly table: TableData) {}

  private textOf(at: number): string {
    const { columns, rows } = this.table;
    const cells = rows[at]!.map((cell, column) => cellText(cell, columns[column]!.measure));
    return cells.join("\n").toLowerCase(); // no cell has a line feed: no match reaches from one into the next
  }

  // Those of the rows in which a cell holds the text; pauses between parts of the work.
  *matching(rows: readonly number[], text: string): Generator<void, number[]> {
    const wanted = text.trim().toLowerCase();
    const found: number[] = [];
    for (const [done, at] of rows.entries()) {
      if ((this.texts[at] ??= this.textOf(at)).includes(wanted)) found.push(at);
      if (done % 256 === 255) yield;
    }
    return found;
  }
}

// A click on a heading: the largest numbers first, then the smallest, then as it came.
export function nextOrder(order: Order | undefined, column: number, numeric: boolean): Order | undefined {
  if (order?.column !== column) return { column, descending: numeric };
  return order.descending === numeric ? { column, descending: !numeric } : undefined;
}

// As the address keeps it: "time descending". Of columns with one name, only the first is told by it; others by their place.
export function orderText({ column, descending }: Order, columns: readonly TableColumn[]): string {
  const { name } = columns[column]!;
  const isFirst = columns.findIndex((each) => each.name === name) === column;
  return `${isFirst ? name : column} ${descending ? "descending" : "ascending"}`;
}

// Nothing if the table has no such column, as that of another question.
export function orderIn(text: string, columns: readonly TableColumn[]): Order | undefined {
  const [, name, direction] = /^(.*) (ascending|descending)$/s.exec(text) ?? [];
  if (name === undefined) return undefined;
  const found = columns.findIndex((each) => each.name === name);
  const column = found >= 0 ? found : /^\d{1,4}$/.test(name) ? Number(name) : -1;
  return columns[column] && { column, descending: direction === "descending" };
}

export interface Window {
  first: number;
  end: number;
}

// Rows to draw: those on the screen, and some beside so that a scroll does not show a gap.
export function visibleRows(scrolled: number, height: number, rowHeight: number, count: number): Window {
  const beside = 8;
  const first = Math.max(0, Math.min(Math.floor(scrolled / rowHeight), count) - beside);
  const end = Math.min(count, Math.ceil((scrolled + height) / rowHeight) + beside);
  return { first, end: Math.max(first, end) };
}

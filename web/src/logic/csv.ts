// SPDX-License-Identifier: MIT
// CSV as `fathom report --format csv --safe-csv` writes it (docs/views.md): RFC 4180, and an
// apostrophe before text that a spreadsheet would compute.
import { escapeCell } from "./escape";

export type Cell = string | number | boolean | null | undefined | readonly unknown[] | object;

const DECIMAL = /^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const FORMULA = /^[ \t\n\u00a0\u3000]*[=+\-@＝＋－＠]/;
const BLANKS = /^[ \t\n\u00a0\u3000]*/;

export function isFormula(text: string): boolean {
  if (text.startsWith("\t")) return true;
  return FORMULA.test(text) && !DECIMAL.test(text.replace(BLANKS, ""));
}

// Nothing is NULL, so an empty text must be quoted.
function quoted(text: string): string {
  if (text !== "" && !/[,"\r\n]/.test(text)) return text;
  return `"${text.replaceAll('"', '""')}"`;
}

function textField(text: string): string {
  const cell = escapeCell(text);
  return quoted(isFormula(cell) ? `'${cell}` : cell);
}

function field(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return textField(cell);
  if (typeof cell === "object") return quoted(JSON.stringify(cell));
  return String(cell);
}

export function csvText(columns: readonly string[], rows: Iterable<readonly Cell[]>): string {
  let out = columns.map(textField).join(",") + "\n";
  for (const row of rows) out += row.map(field).join(",") + "\n";
  return out;
}

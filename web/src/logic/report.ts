// SPDX-License-Identifier: MIT
// A report as `fathom report --format json` prints it, as tables.
import type { Cell } from "./csv";
import type { TableData } from "./table";
import type { Measure } from "./units";

export type ReportRow = Record<string, Cell>;
type Notes = Record<string, string>; // by table
type Units = Record<string, Record<string, Measure>>; // by table and column
export type Report = Record<string, ReportRow[] | Notes | Units>;

export interface Insight {
  rule: string;
  severity: string;
  title: string;
  says: string;
  gain: number | null;
  why: string;
  try: string;
  place?: string | null; // docs/rules.md
}

export function rowsOf(report: Report, key: string): ReportRow[] {
  const rows = report[key];
  return Array.isArray(rows) ? rows : [];
}

// Without what only helps on a command line.
export function noteOf(report: Report, key: string): string {
  const notes = report["notes"];
  const note = notes && !Array.isArray(notes) ? ((notes as Notes)[key] ?? "") : "";
  return note.replace(/; --top 0 shows all$/, "");
}

export function measureOf(report: Report, key: string, column: string): Measure {
  const units = report["units"];
  return units && !Array.isArray(units) ? ((units as Units)[key]?.[column] ?? "none") : "none";
}

export function wordsOf(report: Report): string[] {
  return rowsOf(report, "words").map((row) => String(row["text"] ?? ""));
}

export function insightsOf(report: Report): Insight[] {
  return rowsOf(report, "insights") as unknown as Insight[];
}

// Keys of the tables in their order, without words, insights, notes and units.
export function tableKeys(report: Report): string[] {
  return Object.keys(report).filter((key) => !["words", "insights", "notes", "units"].includes(key));
}

export function tableOf(report: Report, key: string, without: readonly string[] = []): TableData {
  const rows = rowsOf(report, key);
  const names = Object.keys(rows[0] ?? {}).filter((name) => !without.includes(name));
  return {
    columns: names.map((name) => ({ name, measure: measureOf(report, key, name) })),
    rows: rows.map((row) => names.map((name) => row[name] ?? null)),
    note: noteOf(report, key),
  };
}

const WRITTEN: Record<string, string> = { cpu: "CPU", gpu: "GPU", gpus: "GPUs", cuda: "CUDA" };

// "time_by_layer" as a heading.
export function titleOf(key: string): string {
  const words = key.replace(/^i_o(?=_|$)/, "I/O").split("_");
  const text = words.map((word) => WRITTEN[word] ?? word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

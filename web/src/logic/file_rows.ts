// SPDX-License-Identifier: MIT
// Files and how calls moved through them, as one table: reports `files` and `patterns` joined.
import { rowsOf, tableKeys, type Report } from "./report";
import type { TableData } from "./table";

// "consecutive" where both directions agree or there is one; else each with its name.
function patternsByFile(patterns: Report): Map<string, string> {
  const found = new Map<string, Map<string, string>>();
  for (const row of rowsOf(patterns, "access_patterns")) {
    const file = String(row["file"]);
    if (!found.has(file)) found.set(file, new Map());
    found.get(file)!.set(String(row["direction"]), String(row["pattern"]));
  }
  const words = new Map<string, string>();
  for (const [file, directions] of found) {
    const kinds = new Set(directions.values());
    const each = [...directions].map(([direction, pattern]) => `${direction} ${pattern}`);
    words.set(file, kinds.size === 1 ? [...kinds][0]! : each.join(", "));
  }
  return words;
}

export function fileTable(files: Report, patterns: Report | null): TableData {
  const words = patterns ? patternsByFile(patterns) : new Map<string, string>();
  const key = tableKeys(files).find((name) => name.startsWith("files")) ?? "files_by_time";
  return {
    columns: [
      { name: "file", measure: "none" },
      { name: "pattern", measure: "none" },
      { name: "time", measure: "ns" },
      { name: "share", measure: "percent" },
      { name: "calls", measure: "count" },
      { name: "errors", measure: "count" },
      { name: "read", measure: "bytes" },
      { name: "written", measure: "bytes" },
      { name: "per_read", measure: "bytes" },
      { name: "per_write", measure: "bytes" },
    ],
    rows: rowsOf(files, key).map((row) => {
      const cell = (name: string) => row[name] ?? null;
      const numbers = ["time", "share", "calls", "errors", "read", "written", "per_read", "per_write"].map(cell);
      return [cell("file"), words.get(String(row["file"])) ?? null, ...numbers];
    }),
  };
}

// Rows of a histogram report for one layer and direction; where no layer is chosen, for that which
// has most calls, since others may have seen the same calls.
export function histogramRows(
  report: Report,
  key: string,
  category: string,
  layer: string,
): { layer: string; rows: { from: number; calls: number }[] } {
  const fits = rowsOf(report, key).filter((row) => {
    const kind = String(row["category"]);
    return category === "all" ? kind === "read" || kind === "write" : kind === category;
  });
  const sums = new Map<string, number>();
  for (const row of fits) sums.set(String(row["layer"]), (sums.get(String(row["layer"])) ?? 0) + Number(row["calls"]));
  const most = [...sums].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
  const chosen = layer || most;
  const rows = fits.filter((row) => String(row["layer"]) === chosen);
  return { layer: chosen, rows: rows.map((row) => ({ from: Number(row["from"]), calls: Number(row["calls"]) })) };
}

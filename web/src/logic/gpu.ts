// SPDX-License-Identifier: MIT
// What rows of the GPU's reports stand for, as places in the timeline.
import type { Bounds, Place } from "./places";
import { sqlText } from "./sql_text";
import type { ReportRow } from "./report";

function isThat(column: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return `${column} IS NULL`;
  return `${column} = ${typeof value === "number" ? value : sqlText(String(value))}`;
}

// Work of the GPU itself where layer gpu recorded it, else the calls that asked for it.
function ran(row: ReportRow): boolean {
  return Number(row["runs"] ?? 0) > 0;
}

function onDevice(row: ReportRow, conditions: string): Place {
  return { view: "timeline", where: `${isThat("device", row["device"])} AND ${conditions}` };
}

export function workOf(gpu: ReportRow): Place {
  return onDevice(gpu, `layer = 'gpu' AND ${isThat("host", gpu["host"])}`);
}

export function runsOfKernel(row: ReportRow): Place {
  const kernel = sqlText(String(row["kernel"]));
  return onDevice(
    row,
    ran(row) ? `layer = 'gpu' AND name = ${kernel}` : `layer = 'cuda' AND args['kernel'] = ${kernel}`,
  );
}

// A copy on a GPU has its direction in its name, a call in an argument.
export function copiesOf(row: ReportRow): Place {
  const direction = String(row["direction"]);
  if (direction === "set") {
    return onDevice(
      row,
      ran(row) ? "layer = 'gpu' AND category IN ('set', 'gpu_memset')" : "layer = 'cuda' AND category = 'set'",
    );
  }
  if (!ran(row)) {
    return onDevice(
      row,
      `layer = 'cuda' AND category = 'copy' AND coalesce(args['direction'], '?') = ${sqlText(direction)}`,
    );
  }
  const patterns: Record<string, string> = {
    peer: "regexp_matches(name, 'PtoP|peer')",
    "?": "NOT regexp_matches(name, 'HtoD|DtoH|DtoD|HtoH|PtoP|peer')",
  };
  const named = patterns[direction] ?? `contains(name, ${sqlText(direction)})`;
  return onDevice(row, `layer = 'gpu' AND category IN ('copy', 'gpu_memcpy') AND ${named}`);
}

// The longest stretch in which a GPU was idle for this cause; a row of a report that does not tell has none.
export function longestIdle(cause: ReportRow | undefined): Bounds | undefined {
  const [at, longest] = [cause?.["longest_at"], cause?.["longest"]];
  return typeof at === "number" && typeof longest === "number" ? { from: at, to: at + longest } : undefined;
}

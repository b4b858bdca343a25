// SPDX-License-Identifier: MIT
// Small multiples of what processes, the machine and GPUs used.
import type { JSX } from "preact";
import { measureOf, rowsOf, tableKeys, titleOf, type Report } from "../../logic/report";
import { select } from "../../state/selection";
import { Sparkline } from "../parts/sparkline";

const MOST_LINES = 6; // of a table

export function SmallMultiples({ report }: { report: Report }): JSX.Element | null {
  const keys = tableKeys(report).filter((key) => rowsOf(report, key).some((row) => Array.isArray(row["over_time"])));
  if (keys.length === 0) return null;
  return (
    <section aria-label="Resources over time">
      <h2>Resources over time</h2>
      <div class="multiples">
        {keys.flatMap((key) =>
          rowsOf(report, key)
            .slice(0, MOST_LINES)
            .map((row, at) => (
              <Sparkline
                key={`${key} ${at}`}
                name={[titleOf(key), row["line"], row["program"], row["pid"]]
                  .filter((word) => word !== null && word !== "")
                  .join(" · ")}
                values={row["over_time"] as (number | null)[]}
                measure={measureOf(report, key, "max")}
                onPick={() => select({ view: "resources" })}
              />
            )),
        )}
      </div>
    </section>
  );
}

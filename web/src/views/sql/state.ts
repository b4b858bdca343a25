// SPDX-License-Identifier: MIT
// The statement that is looked at. Each that is run is an entry of the browser's history, so that
// back and forward walk through them, and a link holds the question.
import { signal } from "@preact/signals";
import { changeSetting, setting } from "../../state/selection";

export const asked = setting("sql.query", "");
export const exact = setting("sql.exact", "");

// What is being written; it becomes the question when it is run.
export const draft = signal("");
export const earlier = signal<readonly string[]>([]);

const MOST_KEPT = 50;

// Counts runs: the same statement can be asked again.
export const runs = signal(0);

export function run(sql: string): void {
  const text = sql.trim();
  if (text === "") return;
  earlier.value = [text, ...earlier.peek().filter((before) => before !== text)].slice(0, MOST_KEPT);
  changeSetting("sql.query", text, "push");
  runs.value += 1;
}

export const EXAMPLES: readonly string[] = [
  "SELECT name, layer, count(*) AS calls, sum(dur) AS dur FROM events GROUP BY ALL ORDER BY dur DESC LIMIT 100",
  "SELECT ts // 100000000 * 0.1 AS second, sum(bytes) AS bytes FROM events WHERE category = 'read' GROUP BY second ORDER BY second",
  "FROM files ORDER BY bytes_read DESC LIMIT 100",
  "SELECT ts, dur, pid, tid, layer, name, file FROM events ORDER BY dur DESC LIMIT 100",
];

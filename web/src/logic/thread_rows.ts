// SPDX-License-Identifier: MIT
// Where each thread's time went, for the threads that lived longest; the others are added up.
import { rowsOf, type Report, type ReportRow } from "./report";
import { counted } from "./units";

export interface StateTime {
  name: string; // running, waiting, ready, unexplained
  time: number;
}

export interface ThreadRow {
  host: string | null;
  pid: number | null; // of several threads: null
  tid: number | null;
  name: string;
  rank: number | null;
  life: number;
  states: StateTime[]; // none where nobody sampled the thread
}

const STATES = ["running", "waiting", "ready"] as const;

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

// What is left of its life is what nobody can tell, as in the account of all threads.
function statesOf(row: ReportRow, life: number): StateTime[] {
  const known = STATES.flatMap((name) => {
    const time = numberOf(row[name]);
    return time === null ? [] : [{ name: name as string, time }];
  });
  if (known.length === 0) return [];
  const left = life - known.reduce((sum, { time }) => sum + time, 0);
  return [...known, { name: "unexplained", time: left }].filter(({ time }) => time > 0);
}

function threadOf(row: ReportRow): ThreadRow {
  const life = numberOf(row["wall"]) ?? 0;
  return {
    host: typeof row["host"] === "string" ? row["host"] : null,
    pid: numberOf(row["pid"]),
    tid: numberOf(row["tid"]),
    name: typeof row["name"] === "string" ? row["name"] : "",
    rank: numberOf(row["rank"]),
    life,
    states: statesOf(row, life),
  };
}

// The states of those that were sampled; the time of the rest says that it was not.
function together(threads: readonly ThreadRow[]): ThreadRow {
  const sums = new Map<string, number>();
  for (const { states, life } of threads) {
    const told = states.length > 0 ? states : [{ name: "not sampled", time: life }];
    for (const { name, time } of told) sums.set(name, (sums.get(name) ?? 0) + time);
  }
  return {
    host: null,
    pid: null,
    tid: null,
    name: counted(threads.length, "other"),
    rank: null,
    life: threads.reduce((sum, { life }) => sum + life, 0),
    states: [...sums].map(([name, time]) => ({ name, time })),
  };
}

// Ranks first, in their order; then whoever lived longest.
function byRank(a: ThreadRow, b: ThreadRow): number {
  const [left, right] = [a.rank ?? Infinity, b.rank ?? Infinity];
  return left === right ? b.life - a.life : left - right;
}

export function longestThreads(report: Report, most: number): ThreadRow[] {
  const all = rowsOf(report, "threads").map(threadOf);
  const longest = [...all].sort((a, b) => b.life - a.life);
  const others = longest.slice(most);
  const shown = longest.slice(0, most).sort(byRank);
  return others.length > 0 ? [...shown, together(others)] : shown;
}

// SPDX-License-Identifier: MIT
// What `fathom server` tells of jobs and of what arrives (docs/server.md), as rows.

export interface Arrived {
  time: number; // seconds since 1970
  arrived: { job: string; kind: string; batches: number; rows: number; count?: number }[];
  clients: { client: string; job: string; batches: number; rows: number }[];
  left_out: number;
  clients_left_out: number;
}

export const KEPT_SECONDS = 300;

// The seconds of the last minutes, the oldest first; a second that comes again replaces itself.
export function withSecond(seconds: readonly Arrived[], next: Arrived): Arrived[] {
  const oldest = next.time - KEPT_SECONDS;
  return [...seconds.filter(({ time }) => time > oldest && time < next.time), next];
}

export interface Arrivals {
  name: string;
  job: string;
  batches: number;
  rows: number;
  last: number; // when something came, in seconds since 1970
}

function add(
  sums: Map<string, Arrivals>,
  name: string,
  job: string,
  time: number,
  one: { batches: number; rows: number },
): void {
  const id = `${name}\n${job}`;
  const before = sums.get(id) ?? { name, job, batches: 0, rows: 0, last: 0 };
  const last = Math.max(before.last, time);
  sums.set(id, { name, job, batches: before.batches + one.batches, rows: before.rows + one.rows, last });
}

function busiestFirst(sums: Map<string, Arrivals>): Arrivals[] {
  return [...sums.values()].sort((a, b) => b.rows - a.rows || (a.name < b.name ? -1 : 1));
}

export function kindSums(seconds: readonly Arrived[]): Arrivals[] {
  const sums = new Map<string, Arrivals>();
  for (const { time, arrived } of seconds) for (const one of arrived) add(sums, one.kind, one.job, time, one);
  return busiestFirst(sums);
}

// Rows in each second, 0 where nothing came.
export function rowsPerSecond(seconds: readonly Arrived[], now: number, length: number): number[] {
  const rows = new Array<number>(length).fill(0);
  for (const { time, arrived } of seconds) {
    const place = length - 1 - (now - time);
    if (place >= 0 && place < length) rows[place] = arrived.reduce((sum, one) => sum + one.rows, 0);
  }
  return rows;
}

export interface Benchmark {
  command?: unknown;
  machine?: unknown;
  host?: unknown;
  runs?: unknown;
}

export interface Trend {
  name: string;
  machine: string;
  host: string;
  records: number[]; // places in the list of the job's records
  medians: (number | null)[]; // a record each, the oldest first; null without a good run
}

// Changes that the server finds significant (docs/fleet-trends.md): the record at which each was noticed.
export interface Alert {
  index: number;
  changes: { benchmark: string; host?: string; metric: string; before: number; after: number }[];
}

export interface AlertMark {
  at: number; // a place in `medians`
  before: number;
  after: number;
}

// The alerts of one line, for one metric. An alert speaks of several benchmarks, and its record may be another one's: the mark
// stands at the line's own record that is next.
export function alertsOf(trend: Trend, metric: string, alerts: readonly Alert[]): AlertMark[] {
  return alerts.flatMap(({ index, changes }) => {
    const next = trend.records.findIndex((record) => record >= index);
    const at = next < 0 ? trend.records.length - 1 : next;
    const isOwn = ({ benchmark, host }: Alert["changes"][number]): boolean =>
      benchmark === trend.name && (!host || !trend.host || host === trend.host);
    const own = changes.filter((change) => change.metric === metric && isOwn(change));
    return own.map(({ before, after }) => ({ at, before, after }));
  });
}

// A command as a shell would read it back (shell_join in src/base/text.cc): so the server names benchmarks.
export function shellJoin(words: readonly string[]): string {
  const quote = (word: string): string =>
    /^[\w\-+=./:,@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return words.map(quote).join(" ");
}

// What a server said, which may be an older one that says something else.
export function alertsIn(said: unknown): Alert[] {
  const alerts = (said as { alerts?: unknown } | null)?.alerts;
  if (!Array.isArray(alerts)) return [];
  return (alerts as Partial<Alert>[]).filter(
    (alert): alert is Alert => typeof alert?.index === "number" && Array.isArray(alert.changes),
  );
}

export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function goodValues(record: Benchmark, metric: string): number[] {
  const runs = Array.isArray(record.runs) ? (record.runs as Record<string, unknown>[]) : [];
  const good = runs.filter((run) => run !== null && typeof run === "object" && (run["exit"] ?? 0) === 0);
  return good.map((run) => run[metric]).filter((value): value is number => typeof value === "number");
}

// One line for each benchmark and class of machine: only these are compared (docs/fleet-trends.md).
export function trends(records: readonly Benchmark[], metric: string): Trend[] {
  const found = new Map<string, Trend>();
  for (const [index, record] of records.entries()) {
    const name = Array.isArray(record.command) ? shellJoin(record.command.map(String)) : String(record.command ?? "");
    const machine = record.machine === undefined ? "" : JSON.stringify(record.machine);
    const id = `${name}\n${machine}`;
    const trend = found.get(id) ?? { name, machine, host: String(record.host ?? ""), records: [], medians: [] };
    found.set(id, trend);
    trend.records.push(index);
    trend.medians.push(median(goodValues(record, metric)));
  }
  return [...found.values()];
}

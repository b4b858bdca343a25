// SPDX-License-Identifier: MIT
// Lines over time: counters as they were recorded become series that one cursor can follow.

export interface CounterRow {
  ts: number; // where it is drawn: lines of one picture share such moments
  at: number; // when it was read
  name: string;
  unit: string;
  who: string; // a process, a GPU or the machine
  value: number;
}

export interface Series {
  label: string;
  values: (number | null)[];
}

export interface Multiple {
  name: string;
  unit: string;
  times: number[]; // ns, growing
  series: Series[];
}

// Counters of one name share a picture, and a list of all their times; where a series has no value
// at a time there is null, over which lines are drawn.
export function multiples(rows: readonly CounterRow[]): Multiple[] {
  const byName = new Map<string, CounterRow[]>();
  for (const row of rows) {
    const list = byName.get(row.name);
    if (list) list.push(row);
    else byName.set(row.name, [row]);
  }
  return [...byName].map(([name, list]) => ({ name, unit: list[0]!.unit, ...aligned(list) }));
}

function aligned(rows: readonly CounterRow[]): { times: number[]; series: Series[] } {
  const times = [...new Set(rows.map((row) => row.ts))].sort((a, b) => a - b);
  const place = new Map(times.map((time, at) => [time, at]));
  const byWho = new Map<string, Series>();
  for (const row of rows) {
    let series = byWho.get(row.who);
    if (!series) byWho.set(row.who, (series = { label: row.who, values: times.map(() => null) }));
    series.values[place.get(row.ts)!] = row.value;
  }
  return { times, series: [...byWho.values()] };
}

// The value at a time: the last one that is not later.
export function valueAt(times: readonly number[], values: readonly (number | null)[], time: number): number | null {
  let value: number | null = null;
  for (let at = 0; at < times.length && times[at]! <= time; ++at) value = values[at] ?? value;
  return value;
}

// The growth in a second, for the rows of one counter that only grows. It holds between two rows, so that the first has that
// of the second; a single row has none.
export function rates(rows: readonly CounterRow[]): CounterRow[] {
  const grown = rows.slice(1).map((row, at) => {
    const before = rows[at]!;
    return { ...row, value: row.at > before.at ? ((row.value - before.value) * 1e9) / (row.at - before.at) : 0 };
  });
  return grown.length > 0 ? [{ ...rows[0]!, value: grown[0]!.value }, ...grown] : [];
}

// The rows of one counter that tell of a range: those in it, and the nearest on both sides, so that lines cross its edges. A
// process that ended before, or began after, has none.
export function rowsAround(rows: readonly CounterRow[], from: number, to: number): CounterRow[] {
  const first = rows.findIndex((row) => row.ts >= from);
  const end = rows.findIndex((row) => row.ts > to);
  const [begin, stop] = [first < 0 ? rows.length : first, end < 0 ? rows.length : end];
  if (begin === stop && (begin === 0 || stop === rows.length)) return [];
  return rows.slice(Math.max(0, begin - 1), stop + 1);
}

// The rows of each counter by themselves, in the order of time.
export function apart(rows: readonly CounterRow[]): CounterRow[][] {
  const found = new Map<string, CounterRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.name, row.who]);
    const list = found.get(key);
    if (list) list.push(row);
    else found.set(key, [row]);
  }
  return [...found.values()].map((list) => list.sort((a, b) => a.at - b.at));
}

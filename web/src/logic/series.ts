// SPDX-License-Identifier: MIT
// Lines over time: counters as they were recorded become series that one cursor can follow.

export interface CounterRow {
  ts: number;
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

// The growth in a second, for counters that only grow. The first point has none.
export function rates(times: readonly number[], values: readonly (number | null)[]): (number | null)[] {
  let last: { time: number; value: number } | undefined;
  return values.map((value, at) => {
    if (value === null) return null;
    const time = times[at]!;
    const rate = last && time > last.time ? ((value - last.value) * 1e9) / (time - last.time) : null;
    last = { time, value };
    return rate;
  });
}

// SPDX-License-Identifier: MIT
// Lines over time: counters as they were recorded become series that one cursor can follow. Values of a line are columns of
// numbers, since there may be tens of thousands.

export interface Line {
  name: string;
  unit: string;
  who: string; // a process, a GPU or the machine
  ts: Float64Array; // where values are drawn, growing: lines of one picture share such moments
  at: Float64Array; // when they were read
  values: Float64Array;
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

// Lines of one name share a picture, and a list of all their times; where a series has no value
// at a time there is null, over which lines are drawn.
export function multiples(lines: readonly Line[]): Multiple[] {
  const byName = new Map<string, Line[]>();
  for (const line of lines) {
    const list = byName.get(line.name);
    if (list) list.push(line);
    else byName.set(line.name, [line]);
  }
  return [...byName].map(([name, list]) => ({ name, unit: list[0]!.unit, ...aligned(list) }));
}

function aligned(lines: readonly Line[]): { times: number[]; series: Series[] } {
  const all = new Set<number>();
  for (const { ts } of lines) for (const time of ts) all.add(time);
  const times = Float64Array.from(all).sort();
  const series = lines.map((line) => ({ label: line.who, values: valuesAt(times, line) }));
  return { times: [...times], series };
}

// Both times grow, so one walk finds all places.
function valuesAt(times: Float64Array, { ts, values }: Line): (number | null)[] {
  const found = new Array<number | null>(times.length).fill(null);
  let place = 0;
  for (let at = 0; at < ts.length; ++at) {
    while (times[place]! < ts[at]!) place += 1;
    found[place] = values[at]!;
  }
  return found;
}

// The growth in a second of what only grows. It holds between two values, so that the first has that of the second; a single
// value has none.
export function rates(line: Line): Line {
  const { at, values } = line;
  if (values.length < 2) return part(line, 0, 0);
  const grown = new Float64Array(values.length);
  for (let next = 1; next < values.length; ++next) {
    const time = at[next]! - at[next - 1]!;
    grown[next] = time > 0 ? ((values[next]! - values[next - 1]!) * 1e9) / time : 0;
  }
  grown[0] = grown[1]!;
  return { ...line, values: grown };
}

function part(line: Line, begin: number, end: number): Line {
  const [ts, at, values] = [line.ts, line.at, line.values].map((column) => column.subarray(begin, end));
  return { ...line, ts: ts!, at: at!, values: values! };
}

// The values of a line that tell of a range: those in it, and the nearest on both sides, so that lines cross its edges. A
// process that ended before, or began after, has none.
export function around(line: Line, from: number, to: number): Line {
  const count = line.ts.length;
  const first = line.ts.findIndex((time) => time >= from);
  const end = line.ts.findIndex((time) => time > to);
  const [begin, stop] = [first < 0 ? count : first, end < 0 ? count : end];
  if (begin === stop && (begin === 0 || stop === count)) return part(line, 0, 0);
  return part(line, Math.max(0, begin - 1), stop + 1);
}

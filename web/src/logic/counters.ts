// SPDX-License-Identifier: MIT
// Counters as pictures. What only grows is shown as growth in a second, as `report resources` does
// (src/analysis/views/resources.cc).
import { boundsOfValues } from "./axis";
import { apart, multiples, rates, rowsAround, type CounterRow, type Multiple } from "./series";
import type { Measure } from "./units";

const GROWING =
  /^(cpu_user|cpu_system|cgroup_cpu|rchar|wchar|read_bytes|write_bytes|minor_faults|major_faults|voluntary_switches|involuntary_switches)$|_(energy|sent|received)$/;

export function isGrowing(name: string): boolean {
  return GROWING.test(name);
}

export interface CounterPicture extends Multiple {
  title: string;
  measure: Measure;
}

function measureOf(unit: string, name: string): Measure {
  if (/^(bytes|B)$/.test(unit)) return "bytes";
  if (unit === "%") return "percent";
  // Seconds of CPU in a second are a share.
  if (/^cpu_(user|system)$/.test(name)) return "percent";
  return unit === "ns" ? "ns" : "count";
}

// CPU time counts in seconds, that of a control group in nanoseconds.
function scaleOf(name: string): number {
  if (/^cpu_(user|system)$/.test(name)) return 100;
  return name === "cgroup_cpu" ? 1e-7 : 1;
}

function pictureOf(counter: Multiple): CounterPicture {
  const growing = isGrowing(counter.name);
  const scale = scaleOf(counter.name);
  const measure = counter.name === "cgroup_cpu" ? "percent" : measureOf(counter.unit, counter.name);
  const series = counter.series.map(({ label, values }) => ({
    label,
    values: values.map((value) => (value === null ? null : value * scale)),
  }));
  const unit = measure === "count" && counter.unit ? `, ${counter.unit}` : "";
  return {
    ...counter,
    series,
    measure,
    title: `${counter.name}${unit}${growing && measure !== "percent" ? " a second" : ""}`,
  };
}

// Of a range. What was read only once has no growth, and is left out.
export function picturesOf(rows: readonly CounterRow[], from: number, to: number): CounterPicture[] {
  const shown = apart(rows).flatMap((list) => {
    const around = rowsAround(list, from, to);
    return isGrowing(list[0]!.name) ? rates(around) : around;
  });
  return multiples(shown).map(pictureOf);
}

// The lowest and the highest value of the first `lines`; zero belongs to it.
export function boundsOf(picture: CounterPicture, lines: number): { low: number; high: number } {
  return boundsOfValues(picture.series.slice(0, lines).map(({ values }) => values));
}

// What statement `counters` is filled with: the last value of each counter in each of `bins` parts of the range, and the
// nearest before and after it; for levels, the highest too would hide how often it was reached.
export function counterValues(from: number, to: number, bins: number): { from: number; to: number; width: number } {
  return { from, to, width: Math.max(1, Math.ceil((to - from) / bins)) };
}

// Rows of that query; who they belong to is said as shortly as it stays clear.
export function counterRows(rows: readonly (readonly unknown[])[]): CounterRow[] {
  const hosts = new Set(rows.map((row) => row[3]));
  return rows.map(([ts, name, unit, host, pid, value, at]) => {
    const process = pid === null || Number(pid) <= 0 ? "machine" : `pid ${String(pid)}`;
    const who = hosts.size > 1 ? `${String(host)} ${process}` : process;
    return { ts: Number(ts), at: Number(at), name: String(name), unit: String(unit), who, value: Number(value) };
  });
}

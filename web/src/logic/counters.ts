// SPDX-License-Identifier: MIT
// Counters as pictures. What only grows is shown as growth in a second, as `report resources` does
// (src/analysis/views/resources.cc).
import { boundsOfValues } from "./axis";
import { around, multiples, rates, type Line, type Multiple } from "./series";
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
export function picturesOf(lines: readonly Line[], from: number, to: number): CounterPicture[] {
  const shown = lines.map((line) => {
    const seen = around(line, from, to);
    return isGrowing(line.name) ? rates(seen) : seen;
  });
  return multiples(shown.filter(({ ts }) => ts.length > 0)).map(pictureOf);
}

// The lowest and the highest value of the first `lines`; zero belongs to it.
export function boundsOf(picture: CounterPicture, lines: number): { low: number; high: number } {
  return boundsOfValues(picture.series.slice(0, lines).map(({ values }) => values));
}

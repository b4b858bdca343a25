// SPDX-License-Identifier: MIT
// Marks of an axis of values: round numbers of the unit, and the ends of the axis are marks.
import { humanNumber, type Measure } from "./units";

export interface Tick {
  value: number;
  text: string;
}

const MOST_STEPS = 4;

// The smallest round step of which a few reach. There are no parts of a byte.
function stepOf(span: number, measure: Measure): number {
  const least = span / MOST_STEPS;
  if (measure === "bytes" || measure === "ns") {
    if (least <= 1) return 1;
    if (measure === "bytes") return 2 ** Math.ceil(Math.log2(least) - 1e-9);
  }
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5].map((part) => part * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}

// "16 MiB", not "16.0 MiB".
function short(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

// The lowest and the highest value; zero belongs to them, and what has no value does not count.
export function boundsOfValues(lists: readonly (readonly (number | null)[])[]): { low: number; high: number } {
  let [low, high] = [0, 0];
  for (const values of lists) {
    for (const value of values) {
      low = Math.min(low, value ?? 0);
      high = Math.max(high, value ?? 0);
    }
  }
  return { low, high };
}

// From zero or below to `high` or above. Where nothing is but zero, one.
export function ticksOf(low: number, high: number, measure: Measure): Tick[] {
  if (high <= low) return ticksOf(low, low + 1, measure).filter((_tick, at, all) => at === 0 || at + 1 === all.length);
  const step = stepOf(high - low, measure);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  return Array.from({ length: last - first + 1 }, (_none, at) => {
    const value = Number(((first + at) * step).toPrecision(12));
    return { value, text: short(humanNumber(value, measure)) };
  });
}

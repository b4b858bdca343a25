// SPDX-License-Identifier: MIT
// Numbers with their units, exactly as `fathom report` writes them (src/base/units.cc and
// src/render/cell_text.cc). Every number on the page passes here.

export type Measure = "none" | "ns" | "bytes" | "count" | "percent";

// Rounds a tie to the even digit, as C does: 104.5 is "104". A tie exists only where the value is a
// multiple of 2^-(decimals + 1), and there the multiplication below is exact.
export function fixed(value: number, decimals: number): string {
  if (Number.isInteger(value * 2 ** (decimals + 1))) {
    const scaled = Math.abs(value) * 10 ** decimals;
    const below = Math.floor(scaled);
    if (scaled - below === 0.5) {
      const even = below % 2 === 0 ? below : below + 1;
      return ((Math.sign(value) * even) / 10 ** decimals).toFixed(decimals);
    }
  }
  return value.toFixed(decimals);
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size < 9.995) return fixed(value, 2);
  return fixed(value, size < 99.95 ? 1 : 0);
}

// Divides while the shown digits would reach the next unit: 1023.9 KiB is "1.00 MiB".
function scaled(value: number, step: number, units: readonly string[]): string {
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= step - 0.5) {
    value /= step;
    unit += 1;
  }
  const number = unit === 0 ? fixed(value, 0) : threeDigits(value);
  return units[unit] ? `${number} ${units[unit]}` : number;
}

function hoursAndMinutes(seconds: number): string {
  const minutes = Math.sign(seconds) * Math.round(Math.abs(seconds) / 60);
  const rest = String(minutes % 60).padStart(2, "0");
  return `${Math.trunc(minutes / 60)}h ${rest}m`;
}

export function humanNs(ns: number): string {
  if (Math.abs(ns) >= 3600e9) return hoursAndMinutes(ns / 1e9);
  return scaled(ns, 1000, ["ns", "us", "ms", "s"]);
}

export function humanBytes(bytes: number): string {
  return scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
}

export function humanCount(count: number): string {
  return scaled(count, 1000, ["", "k", "M", "G", "T"]);
}

export function humanPercent(percent: number): string {
  return `${fixed(percent, 1)} %`;
}

export function withThousands(whole: number | bigint): string {
  const digits = String(whole);
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

// A number with its noun: "1 event", "12,345 events", "2 boxes". Whatever the page counts in words is written with it, so
// that nothing says "1 events"; tools/check_web.py finds what is not.
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${withThousands(count)} ${count === 1 ? noun : plural}`;
}

function scientific(value: number): string {
  const [mantissa, exponent] = value.toExponential(5).split("e") as [string, string];
  const sign = exponent.startsWith("-") ? "-" : "+";
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0");
  return `${mantissa.replace(/\.?0+$/, "")}e${sign}${digits}`;
}

// Six significant digits or three decimals, whichever says more; no trailing zeros.
export function shortReal(value: number): string {
  const size = Math.abs(value);
  if (Number.isNaN(value)) return "nan";
  if (size === Infinity) return value < 0 ? "-inf" : "inf";
  if (value !== 0 && (size >= 1e15 || size < 1e-4)) return scientific(value);
  const beforePoint = size < 1 ? 1 : Math.floor(Math.log10(size)) + 1;
  const text = fixed(value, Math.max(3, 6 - beforePoint)).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}

function countText(value: number): string {
  return Math.abs(value) < 9e15 && Number.isInteger(value) ? withThousands(value) : shortReal(value);
}

export function humanNumber(value: number, measure: Measure): string {
  switch (measure) {
    case "ns":
      return humanNs(value);
    case "bytes":
      return humanBytes(value);
    case "count":
      return countText(value);
    case "percent":
      return humanPercent(value);
    case "none":
      return Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : shortReal(value);
  }
}

// A change: a sign always, since "3 ms" could be a level.
export function signedNumber(value: number, measure: Measure): string {
  const text = humanNumber(value, measure);
  return value > 0 ? `+${text}` : text;
}

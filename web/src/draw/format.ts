// SPDX-License-Identifier: MIT
// Numbers as people read them; the same words as the reports of the command line.

const timeUnits: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

// Three significant digits: 1.23 s, 45.6 ms, 789 ns. Minutes and hours from two minutes on.
export function duration(ns: number): string {
  const size = Math.abs(ns);
  const sign = ns < 0 ? "-" : "";
  if (size >= 120e9) return sign + clock(size);
  for (const [unit, name] of timeUnits) {
    if (size >= unit) return `${sign}${digits(size / unit)} ${name}`;
  }
  return "0 ns";
}

function clock(ns: number): string {
  const seconds = Math.round(ns / 1e9);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return `${minutes} min ${seconds % 60} s`;
}

function digits(value: number): string {
  if (value >= 100) return String(Math.round(value));
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(count: number): string {
  let value = Math.abs(count);
  let unit = 0;
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const text = unit === 0 ? String(Math.round(value)) : digits(value);
  return `${count < 0 ? "-" : ""}${text} ${byteUnits[unit]}`;
}

// 1,234,567
export function count(value: number): string {
  const text = Number.isInteger(value) ? String(Math.abs(value)) : Math.abs(value).toFixed(2);
  const [whole = "", rest] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${value < 0 ? "-" : ""}${grouped}${rest ? `.${rest}` : ""}`;
}

export function percent(share: number): string {
  return `${digits(Math.abs(share) * 100)} %`.replace(/^/, share < 0 ? "-" : "");
}

export function quantity(value: number, unit: string): string {
  if (unit === "ns") return duration(value);
  if (unit === "bytes" || unit === "B") return bytes(value);
  return unit ? `${count(value)} ${unit}` : count(value);
}

// A moment on an axis whose marks lie `step` apart: so many digits that neighbours differ.
export function moment(ns: number, step: number): string {
  const [unit, name] = timeUnits.find(([size]) => Math.max(Math.abs(ns), step) >= size) ?? [1, "ns"];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(ns / unit).toFixed(decimals)} ${name}`;
}

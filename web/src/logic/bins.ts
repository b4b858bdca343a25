// SPDX-License-Identifier: MIT
// Histograms in powers of two, and the shades of heat maps.

export interface Bar {
  from: number; // lower bound
  to: number; // upper bound, exclusive
  count: number;
}

// Rows (lower bound, count) as bars without gaps; the first bucket is what is below 2.
export function powerBars(rows: readonly { from: number; calls: number }[]): Bar[] {
  const sums = new Map<number, number>();
  for (const { from, calls } of rows) sums.set(from, (sums.get(from) ?? 0) + calls);
  const bounds = [...sums.keys()].sort((a, b) => a - b);
  if (bounds.length === 0) return [];
  const bars: Bar[] = [];
  const last = bounds[bounds.length - 1]!;
  for (let from = bounds[0]!; from <= last; from = nextBound(from)) {
    bars.push({ from, to: nextBound(from), count: sums.get(from) ?? 0 });
  }
  return bars;
}

function nextBound(from: number): number {
  return from === 0 ? 2 : from * 2;
}

// 0 for nothing, else from 1 to `shades` - 1. By logarithm, small cells stay visible beside large.
export function shadeOf(value: number, most: number, shades: number, logarithmic: boolean): number {
  if (!(value > 0) || !(most > 0)) return 0;
  const part = logarithmic ? Math.log1p(value) / Math.log1p(most) : value / most;
  return 1 + Math.min(shades - 2, Math.floor(part * (shades - 1)));
}

export function mostOf(cells: readonly (readonly number[])[]): number {
  let most = 0;
  for (const row of cells) for (const value of row) if (value > most) most = value;
  return most;
}

// The cell under a point of a picture, or nothing outside.
export function cellAt(
  x: number,
  y: number,
  size: { width: number; height: number; columns: number; rows: number },
): { column: number; row: number } | undefined {
  const column = Math.floor((x / size.width) * size.columns);
  const row = Math.floor((y / size.height) * size.rows);
  const inside = column >= 0 && column < size.columns && row >= 0 && row < size.rows;
  return inside ? { column, row } : undefined;
}

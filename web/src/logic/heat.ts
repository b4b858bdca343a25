// SPDX-License-Identifier: MIT
// Heat maps as pixels, and the way back from a cell to a time and a row.
import { shadeOf } from "./bins";
import type { Rgb } from "./colours";

export const SHADES = 64;

export interface HeatCells {
  columns: number;
  rows: number;
  cells: readonly (readonly number[])[]; // rows of columns
  most: number;
}

export function heatCells(cells: readonly (readonly number[])[], most: number): HeatCells {
  const columns = cells.reduce((longest, row) => Math.max(longest, row.length), 0);
  return { columns, rows: cells.length, cells, most };
}

// One pixel for each cell, as ImageData wants them: red, green, blue, opaque.
export function pixelsOf(
  heat: HeatCells,
  colours: readonly Rgb[],
  logarithmic: boolean,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(new ArrayBuffer(heat.columns * heat.rows * 4));
  heat.cells.forEach((row, y) => {
    for (let x = 0; x < heat.columns; ++x) {
      const [red, green, blue] = colours[shadeOf(row[x] ?? 0, heat.most, colours.length, logarithmic)]!;
      pixels.set([red, green, blue, 255], (y * heat.columns + x) * 4);
    }
  });
  return pixels;
}

export interface RowPlace {
  pids?: number[];
  tids?: number[];
}

// What a row of threads ("host/pid/tid") or processes ("host/pid") selects. Others select nothing.
export function placeOfRow(kind: string, id: string): RowPlace {
  const numbers = /(\d+)\/(\d+)$/.exec(id);
  if (kind === "thread" && numbers) return { pids: [Number(numbers[1])], tids: [Number(numbers[2])] };
  const process = /(?:^|\/)(\d+)$/.exec(id);
  return kind === "process" && process ? { pids: [Number(process[1])] } : {};
}

export function binRange(from: number, width: number, column: number): [number, number] {
  return [from + column * width, from + (column + 1) * width];
}

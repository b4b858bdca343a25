// SPDX-License-Identifier: MIT
// Heat maps as pixels, and the way back from a cell to a time and a row.
import { shadeOf } from "./bins";
import type { Rgb } from "./colours";
import { sqlText } from "./sql_text";

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
  hosts?: string[];
  pids?: number[];
  tids?: number[];
  where?: string;
}

interface Ranked {
  kind: string;
  host: string | null;
  pid: number | null;
  rank: number | null;
}

// What a row selects: a thread ("host/pid/tid"), a process ("host/pid"), the processes of a rank, or the calls of a file. Two
// hosts may have processes of one number.
export function placeOfRow(kind: string, id: string, tracks: readonly Ranked[] = []): RowPlace {
  const row = /^(?:(.*)\/)?(\d+)$/s.exec(kind === "thread" ? id.replace(/\/\d+$/, "") : id);
  const place: RowPlace = row ? { ...(row[1] ? { hosts: [row[1]] } : {}), pids: [Number(row[2])] } : {};
  if (kind === "thread") return row ? { ...place, tids: [Number(/\d+$/.exec(id)![0])] } : {};
  if (kind === "process") return place;
  if (kind === "file") return { where: `file = ${sqlText(id)}` };
  return kind === "rank" ? placeOfRank(Number(id), tracks) : {};
}

function placeOfRank(rank: number, tracks: readonly Ranked[]): RowPlace {
  const those = tracks.filter((track) => track.kind === "process" && track.rank === rank && track.pid !== null);
  if (those.length === 0) return {};
  const hosts = [...new Set(those.flatMap(({ host }) => (host ? [host] : [])))];
  return { ...(hosts.length > 0 ? { hosts } : {}), pids: [...new Set(those.map(({ pid }) => pid!))] };
}

export function binRange(from: number, width: number, column: number): [number, number] {
  return [from + column * width, from + (column + 1) * width];
}

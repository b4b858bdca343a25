// SPDX-License-Identifier: MIT
// The picture of the timeline between two heights: rows with their boxes and lines, the selected range, arrows. Drawn with
// a Pen, so that the screen and the saved file show the same.
import type { Pen } from "../draw/pen";
import type { TrackId } from "../api/types";
import { humanNumber } from "../logic/units";
import { layerColour } from "../theme/layers";
import type { Palette } from "../theme/theme";
import { marks, moment, xOf, type Camera } from "./camera";
import { drawCounter } from "./counters";
import { drawBoxes, type Look } from "./lines";
import { between, lineHeightOf, type Row } from "./rows";
import { levelOf, type TileStore } from "./tiles";

export interface Arrow {
  from: { track: TrackId; t: number };
  to: { track: TrackId; t: number };
}

export interface Picture {
  rows: readonly Row[];
  top: number; // of what is seen, in the height of all rows
  height: number;
  look: Look;
  palette: Palette;
  tiles: TileStore;
  range: { from: number | null; to: number | null }; // selected
  measure: Camera | null;
  arrows: readonly Arrow[];
}

const mostArrows = 400;

export function drawPicture(pen: Pen, picture: Picture): void {
  const { look, palette, height } = picture;
  pen.box(0, 0, look.width, height, palette.back);
  drawMarks(pen, picture);
  const [first, last] = between(picture.rows, picture.top, picture.top + height);
  for (let at = first; at < last; ++at) drawRow(pen, picture.rows[at]!, picture);
  drawArrows(pen, picture);
  drawVeil(pen, picture);
  if (picture.measure) drawMeasure(pen, picture.measure, picture);
}

function drawMarks(pen: Pen, { look, palette, height }: Picture): void {
  for (const time of marks(look.camera, look.width).times) {
    pen.box(Math.round(xOf(look.camera, time, look.width)), 0, 1, height, palette.raised);
  }
}

function drawRow(pen: Pen, row: Row, picture: Picture): void {
  const { look, palette, tiles } = picture;
  const y = row.y - picture.top;
  const { track } = row;
  if (track.kind === "host" || track.kind === "process") pen.box(0, y, look.width, 1, palette.line);
  if (track.events > 0) {
    const segments = tiles.best(track.id, look.camera, levelOf(look.camera, look.width));
    if (track.kind === "counter") {
      const colour = layerColour(track.layer ?? "resource", look.shade);
      const high = drawCounter(pen, segments, y, colour, look);
      if (high !== null) drawScale(pen, scaleText(high, track.unit), y, palette);
    } else {
      drawBoxes(pen, segments, { top: y + 1, count: row.lines, height: lineHeightOf(track) }, look);
    }
  }
  // A heavier edge: the track goes on below it.
  pen.box(
    0,
    y + row.height - (row.more > 0 ? 3 : 1),
    look.width,
    row.more > 0 ? 2 : 1,
    row.more > 0 ? palette.line : palette.raised,
  );
}

// Over the line, on a ground of its own.
function drawScale(pen: Pen, text: string, y: number, palette: Palette): void {
  const [size, room] = [10, 0.62]; // a character of such a font is so wide at most
  pen.box(2, y + 2, text.length * size * room + 4, size + 2, palette.back);
  pen.text(text, 4, y + 8, palette.faint, size);
}

export function scaleText(value: number, unit: string | undefined): string {
  if (unit === "ns") return humanNumber(value, "ns");
  if (unit === "bytes") return humanNumber(value, "bytes");
  return `${humanNumber(value, "count")}${unit && unit !== "count" ? ` ${unit}` : ""}`;
}

function drawArrows(pen: Pen, { arrows, rows, top, look, palette }: Picture): void {
  if (arrows.length === 0) return;
  const places = new Map(rows.map((row) => [row.track.id, row.y - top + Math.min(row.height, 18) / 2]));
  for (const arrow of arrows.slice(0, mostArrows)) {
    const [y0, y1] = [places.get(arrow.from.track), places.get(arrow.to.track)];
    if (y0 === undefined || y1 === undefined) continue;
    const [x0, x1] = [xOf(look.camera, arrow.from.t, look.width), xOf(look.camera, arrow.to.t, look.width)];
    pen.line(curve(x0, y0, x1, y1), palette.accent, 1);
    pen.area([x1, y1, x1 - 6, y1 - 3, x1 - 6, y1 + 3], palette.accent);
  }
}

function curve(x0: number, y0: number, x1: number, y1: number): number[] {
  const bend = Math.max(12, Math.abs(x1 - x0) / 3);
  const points: number[] = [];
  for (let step = 0; step <= 16; ++step) {
    const t = step / 16;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
    points.push(a * x0 + b * (x0 + bend) + c * (x1 - bend) + d * x1, (a + b) * y0 + (c + d) * y1);
  }
  return points;
}

function drawVeil(pen: Pen, { range, look, palette, height }: Picture): void {
  if (range.from === null && range.to === null) return;
  const left = range.from === null ? 0 : xOf(look.camera, range.from, look.width);
  const right = range.to === null ? look.width : xOf(look.camera, range.to, look.width);
  pen.box(left, 0, Math.max(1, right - left), height, palette.chosen);
  pen.box(left, 0, 1, height, palette.accent);
  pen.box(right, 0, 1, height, palette.accent);
}

function drawMeasure(pen: Pen, measure: Camera, { look, palette }: Picture): void {
  const [left, right] = [xOf(look.camera, measure.from, look.width), xOf(look.camera, measure.to, look.width)];
  const text = humanNumber(measure.to - measure.from, "ns");
  const middle = 16;
  pen.line(
    [left, middle - 6, left, middle + 6, left, middle, right, middle, right, middle - 6, right, middle + 6],
    palette.accent,
    2,
  );
  const width = look.fitter.width(text) + 10;
  const place = Math.min(Math.max((left + right - width) / 2, 0), look.width - width);
  pen.box(place, middle - 9, width, 18, palette.back);
  pen.text(text, place + 5, middle, palette.accent, 12);
}

export const rulerHeight = 24;

export function drawRuler(pen: Pen, camera: Camera, width: number, palette: Palette): void {
  pen.box(0, 0, width, rulerHeight, palette.raised);
  const { step, times } = marks(camera, width);
  for (const time of times) {
    const x = Math.round(xOf(camera, time, width));
    pen.box(x, rulerHeight - 6, 1, 6, palette.faint);
    pen.text(moment(time, step), x + 4, rulerHeight / 2, palette.faint, 11);
  }
}

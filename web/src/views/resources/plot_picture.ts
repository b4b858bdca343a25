// SPDX-License-Identifier: MIT
// A plot of counters drawn with a pen, for files: the library that draws it on screen knows only canvases.
import type { Pen } from "../../draw/pen";
import type { CounterPicture } from "../../logic/counters";
import { escapeName } from "../../logic/escape";
import { humanNumber } from "../../logic/units";
import { series as seriesColours } from "../../theme/layers";
import { palette, shade } from "../../theme/theme";
import { marks, moment, xOf, type Camera } from "../../timeline/camera";
import type { Picture } from "../parts/save_bar";

const [LEFT, TOP, BOTTOM, LINE] = [80, 24, 24, 16];
const HEIGHT = 200;

function drawAxes(pen: Pen, picture: CounterPicture, camera: Camera, width: number, most: number): void {
  const { text, faint, line } = palette.peek();
  pen.text(escapeName(picture.title), 0, TOP / 2, text, 13);
  for (const part of [0, 0.5, 1]) {
    const y = TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);
    pen.line([LEFT, y, width, y], line);
    pen.text(humanNumber(part * most, picture.measure), 0, y, faint, 11);
  }
  const { step, times } = marks(camera, width - LEFT);
  for (const time of times) {
    pen.text(moment(time, step), LEFT + xOf(camera, time, width - LEFT), HEIGHT - BOTTOM / 2, faint, 11);
  }
}

function drawPlot(pen: Pen, picture: CounterPicture, camera: Camera, width: number, lines: number): void {
  const values = picture.series.slice(0, lines);
  const most =
    values.flatMap((each) => each.values).reduce<number>((high, value) => Math.max(high, value ?? 0), 0) || 1;
  drawAxes(pen, picture, camera, width, most);
  const colours = seriesColours[shade.peek()];
  values.forEach((each, at) => {
    const colour = colours[at % colours.length]!;
    const points = each.values.flatMap((value, place) => {
      if (value === null) return [];
      const y = TOP + (1 - Math.max(value, 0) / most) * (HEIGHT - TOP - BOTTOM);
      return [LEFT + xOf(camera, picture.times[place]!, width - LEFT), y];
    });
    if (points.length > 2) pen.line(points, colour, 1.5);
    pen.box(0, HEIGHT + at * LINE + 2, 10, 10, colour);
    pen.text(escapeName(each.label), 16, HEIGHT + at * LINE + 8, palette.peek().text, 11);
  });
}

export function plotPicture(picture: CounterPicture, camera: Camera, width: number, lines: number): Picture {
  const height = HEIGHT + Math.min(picture.series.length, lines) * LINE + 4;
  return { width, height, draw: (pen) => drawPlot(pen, picture, camera, width, lines) };
}

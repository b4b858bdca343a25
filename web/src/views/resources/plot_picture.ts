// SPDX-License-Identifier: MIT
// A plot of counters drawn with a pen, for files: the library that draws it on screen knows only canvases.
import type { Pen } from "../../draw/pen";
import { ticksOf, type Tick } from "../../logic/axis";
import { boundsOf, type CounterPicture } from "../../logic/counters";
import { escapeName } from "../../logic/escape";
import { series as seriesColours } from "../../theme/layers";
import { palette, shade } from "../../theme/theme";
import { marks, moment, xOf, type Camera } from "../../timeline/camera";
import type { Picture } from "../parts/save_bar";

const [LEFT, TOP, BOTTOM, LINE] = [80, 24, 24, 16];
const HEIGHT = 200;

type Place = (value: number) => number;

function drawAxes(
  pen: Pen,
  picture: CounterPicture,
  camera: Camera,
  width: number,
  ticks: readonly Tick[],
  yOf: Place,
): void {
  const { text, faint, line } = palette.peek();
  pen.text(escapeName(picture.title), 0, TOP / 2, text, 13);
  for (const tick of ticks) {
    pen.line([LEFT, yOf(tick.value), width, yOf(tick.value)], line);
    pen.text(tick.text, 0, yOf(tick.value), faint, 11);
  }
  const { step, times } = marks(camera, width - LEFT);
  for (const time of times) {
    pen.text(moment(time, step), LEFT + xOf(camera, time, width - LEFT), HEIGHT - BOTTOM / 2, faint, 11);
  }
}

function drawPlot(pen: Pen, picture: CounterPicture, camera: Camera, width: number, lines: number): void {
  const values = picture.series.slice(0, lines);
  const { low, high } = boundsOf(picture, lines);
  const ticks = ticksOf(low, high, picture.measure);
  const [bottom, top] = [ticks[0]!.value, ticks.at(-1)!.value];
  const yOf: Place = (value) => TOP + ((top - value) / (top - bottom)) * (HEIGHT - TOP - BOTTOM);
  drawAxes(pen, picture, camera, width, ticks, yOf);
  const colours = seriesColours[shade.peek()];
  values.forEach((each, at) => {
    const colour = colours[at % colours.length]!;
    const points = each.values.flatMap((value, place) => {
      if (value === null) return [];
      return [LEFT + xOf(camera, picture.times[place]!, width - LEFT), yOf(value)];
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

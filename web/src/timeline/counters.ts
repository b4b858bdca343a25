// SPDX-License-Identifier: MIT
// Draws a counter: the range of its values as an area, their average as a line, over a scale from zero.
import type { Pen } from "../draw/pen";
import { xOf } from "./camera";
import { mixed, type Look } from "./lines";
import type { Line, Segment } from "./tiles";
import { counterHeight } from "./rows";

interface Point {
  t: number;
  min: number;
  max: number;
  avg: number;
}

// Values of the segments in order, each stretch from what was kept of it, and one beyond each edge so that lines go on.
export function pointsOf(segments: readonly Segment[]): Point[] {
  const points: Point[] = [];
  for (const [place, { from, to, content }] of segments.entries()) {
    if (content.kind !== "line") continue;
    const edge = place === 0 || place === segments.length - 1;
    for (let at = 0; at < content.line.t.length; ++at) {
      const t = content.line.t[at]!;
      if (!edge && (t < from || t >= to)) continue;
      if (points.length > 0 && t <= points.at(-1)!.t) continue;
      points.push(pointAt(content.line, at));
    }
  }
  return points;
}

function pointAt(line: Line, at: number): Point {
  return { t: line.t[at]!, min: line.min[at]!, max: line.max[at]!, avg: line.avg[at]! };
}

export function scaleOf(points: readonly Point[]): { low: number; high: number } {
  let low = 0;
  let high = 0;
  for (const point of points) {
    low = Math.min(low, point.min);
    high = Math.max(high, point.max);
  }
  return { low, high: high > low ? high : low + 1 };
}

// Returns the highest value on screen.
export function drawCounter(
  pen: Pen,
  segments: readonly Segment[],
  top: number,
  colour: string,
  look: Look,
): number | null {
  const points = pointsOf(segments);
  if (points.length === 0) return null;
  const { low, high } = scaleOf(points);
  const y = (value: number): number => top + counterHeight - ((value - low) / (high - low)) * (counterHeight - 4);
  const upper: number[] = [];
  const lower: number[] = [];
  const middle: number[] = [];
  for (const point of points) {
    const x = xOf(look.camera, point.t, look.width);
    upper.push(x, y(point.max));
    lower.unshift(x, y(point.min));
    middle.push(x, y(point.avg));
  }
  pen.area([...upper, ...lower], mixed(colour, look.back, 0.4));
  pen.line(middle, colour, 1.5);
  return points.reduce((most, point) => Math.max(most, point.max), low);
}

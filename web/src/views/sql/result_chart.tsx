// SPDX-License-Identifier: MIT
// Rows of a query as lines or bars.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Pen } from "../../draw/pen";
import { boundsOfValues, ticksOf, type Tick } from "../../logic/axis";
import { pieces, thinned, valuesOf, type Chart } from "../../logic/chart";
import { cellText, type TableData } from "../../logic/table";
import { counted, humanNumber } from "../../logic/units";
import { series } from "../../theme/layers";
import { palette, shade, type Palette } from "../../theme/theme";
import { Drawn } from "../parts/picture";

const HEIGHT = 220;
const EDGE = { left: 84, right: 12, top: 10, bottom: 22 };
const BAR = 20;
const NAMES = 260;
const DOT = 4;

function drawAxes(pen: Pen, width: number, table: TableData, chart: Chart, theme: Palette, frame: Frame): void {
  for (const { value, text } of frame.ticks) {
    pen.line([EDGE.left, frame.y(value), width - EDGE.right, frame.y(value)], theme.line);
    pen.text(text, 4, frame.y(value), theme.faint, 11);
  }
  const { begin, end } = frame;
  for (const part of [0, 0.5, 1]) {
    const value = begin + part * (end - begin);
    const text = humanNumber(value, table.columns[chart.x]!.measure);
    pen.text(text, frame.x(value) - part * 56, HEIGHT - 10, theme.faint, 11);
  }
}

interface Frame {
  begin: number; // the first and the last x
  end: number;
  ticks: readonly Tick[]; // of values
  x: (value: number) => number;
  y: (value: number) => number;
}

function frameOf(width: number, xs: readonly (number | null)[], ticks: readonly Tick[]): Frame {
  const [begin, end] = [xs[0] ?? 0, xs.at(-1) ?? 0];
  const [bottom, top] = [ticks[0]!.value, ticks.at(-1)!.value];
  return {
    begin,
    end,
    ticks,
    x: (value) => EDGE.left + ((value - begin) / (end - begin || 1)) * (width - EDGE.left - EDGE.right),
    y: (value) => EDGE.top + ((top - value) / (top - bottom)) * (HEIGHT - EDGE.bottom - EDGE.top),
  };
}

// Where there is no value the line is interrupted; a value between two such places is a dot.
function drawLine(pen: Pen, points: readonly (readonly [number, number] | null)[], colour: string): void {
  for (const piece of pieces(points)) {
    const [x, y] = piece[0]!;
    const kept = thinned(piece);
    if (kept.length > 2) pen.line(kept, colour, 1.5);
    else pen.box(x - DOT / 2, y - DOT / 2, DOT, DOT, colour);
  }
}

function drawLines(pen: Pen, width: number, table: TableData, chart: Chart, theme: Palette): void {
  const xs = valuesOf(table, chart.x);
  const lines = chart.y.map((column) => valuesOf(table, column));
  const { low, high } = boundsOfValues(lines);
  const frame = frameOf(width, xs, ticksOf(low, high, table.columns[chart.y[0]!]!.measure));
  drawAxes(pen, width, table, chart, theme, frame);
  lines.forEach((values, at) => {
    const colour = series[shade.value][at % 8]!;
    const points = values.map((value, i) => (value === null ? null : ([frame.x(xs[i]!), frame.y(value)] as const)));
    drawLine(pen, points, colour);
    pen.text(table.columns[chart.y[at]!]!.name, EDGE.left + 6 + at * 120, EDGE.top + 4, colour, 11);
  });
}

// From zero to the right, or to the left where a value is below it. What has no value has no bar.
function drawBars(pen: Pen, width: number, table: TableData, chart: Chart, theme: Palette): void {
  const [column] = chart.y as [number];
  const values = valuesOf(table, column);
  const { low, high } = boundsOfValues([values]);
  const x = (value: number) => NAMES + ((value - low) / (high - low || 1)) * (width - NAMES - 90);
  if (low < 0) pen.line([x(0), 0, x(0), values.length * BAR], theme.line);
  values.forEach((value, at) => {
    const name = cellText(table.rows[at]![chart.x], "none");
    const [left, right] = [x(Math.min(value ?? 0, 0)), x(Math.max(value ?? 0, 0))];
    pen.text(name.length > 40 ? `…${name.slice(-39)}` : name, 4, (at + 0.5) * BAR, theme.text);
    if (value !== null) pen.box(left, at * BAR + 3, right - left, BAR - 6, series[shade.value][0]!);
    pen.text(cellText(value, table.columns[column]!.measure), right + 4, (at + 0.5) * BAR, theme.faint);
  });
}

// Only where a column of numbers stands beside one to draw it by.
export function ResultChart({ table, chart }: { table: TableData; chart: Chart }): JSX.Element {
  const theme = palette.value;
  const draw = useMemo(() => {
    const paint = chart.kind === "line" ? drawLines : drawBars;
    return (pen: Pen, width: number) => paint(pen, width, table, chart, theme);
  }, [table, chart, theme]);
  const drawn = chart.y.map((column) => table.columns[column]!.name).join(", ");
  return (
    <Drawn
      title="Chart"
      label={`${drawn} by ${table.columns[chart.x]!.name}, ${counted(table.rows.length, "value")}`}
      height={chart.kind === "line" ? HEIGHT : table.rows.length * BAR}
      draw={draw}
    />
  );
}

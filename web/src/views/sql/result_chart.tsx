// SPDX-License-Identifier: MIT
// Rows of a query as lines or bars.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Pen } from "../../draw/pen";
import { highest, thinned, type Chart } from "../../logic/chart";
import { cellText, type TableData } from "../../logic/table";
import { humanNumber } from "../../logic/units";
import { series } from "../../theme/layers";
import { palette, shade, type Palette } from "../../theme/theme";
import { Drawn } from "../parts/picture";

const HEIGHT = 220;
const EDGE = { left: 84, right: 12, top: 10, bottom: 22 };
const BAR = 20;
const NAMES = 260;

function numbers(table: TableData, column: number): number[] {
  return table.rows.map((row) => Number(row[column] ?? 0));
}

function drawLines(pen: Pen, width: number, table: TableData, chart: Chart, theme: Palette): void {
  const xs = numbers(table, chart.x);
  const [begin, end] = [xs[0]!, xs.at(-1)!];
  const most = chart.y.reduce((high, column) => highest(numbers(table, column), high), Number.MIN_VALUE);
  const x = (value: number) => EDGE.left + ((value - begin) / (end - begin || 1)) * (width - EDGE.left - EDGE.right);
  const y = (value: number) => HEIGHT - EDGE.bottom - (Math.max(value, 0) / most) * (HEIGHT - EDGE.bottom - EDGE.top);
  const named = (column: number, value: number) => humanNumber(value, table.columns[column]!.measure);
  for (const part of [0, 0.5, 1]) {
    pen.line([EDGE.left, y(part * most), width - EDGE.right, y(part * most)], theme.line);
    pen.text(named(chart.y[0]!, part * most), 4, y(part * most), theme.faint, 11);
    pen.text(
      named(chart.x, begin + part * (end - begin)),
      x(begin + part * (end - begin)) - part * 56,
      HEIGHT - 10,
      theme.faint,
      11,
    );
  }
  chart.y.forEach((column, at) => {
    const points = thinned(numbers(table, column).map((value, i) => [x(xs[i]!), y(value)] as const));
    pen.line(points, series[shade.value][at % 8]!, 1.5);
    pen.text(table.columns[column]!.name, EDGE.left + 6 + at * 120, EDGE.top + 4, series[shade.value][at % 8]!, 11);
  });
}

function drawBars(pen: Pen, width: number, table: TableData, chart: Chart, theme: Palette): void {
  const [column] = chart.y as [number];
  const values = numbers(table, column);
  const most = highest(values, Number.MIN_VALUE);
  values.forEach((value, at) => {
    const name = cellText(table.rows[at]![chart.x], "none");
    const length = (Math.max(value, 0) / most) * (width - NAMES - 90);
    pen.text(name.length > 40 ? `…${name.slice(-39)}` : name, 4, (at + 0.5) * BAR, theme.text);
    pen.box(NAMES, at * BAR + 3, length, BAR - 6, series[shade.value][0]!);
    pen.text(humanNumber(value, table.columns[column]!.measure), NAMES + length + 4, (at + 0.5) * BAR, theme.faint);
  });
}

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
      label={`${drawn} by ${table.columns[chart.x]!.name}, ${table.rows.length} values`}
      height={chart.kind === "line" ? HEIGHT : table.rows.length * BAR}
      draw={draw}
    />
  );
}

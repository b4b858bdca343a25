// SPDX-License-Identifier: MIT
// Calls by powers of two: columns over bounds, with their numbers where there is room.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Pen } from "../../draw/pen";
import { powerBars, type Bar } from "../../logic/bins";
import { counted, humanCount, humanNumber, type Measure } from "../../logic/units";
import { palette, shade } from "../../theme/theme";
import { series } from "../../theme/layers";
import { Empty } from "../../shell/states";
import { Drawn } from "./picture";

const HEIGHT = 180;
const BOTTOM = 22;
const TOP = 16;
const LABEL = 48; // pixels of a bound

interface HistogramProps {
  title: string;
  rows: readonly { from: number; calls: number }[];
  measure: Measure;
}

function drawBars(pen: Pen, width: number, bars: readonly Bar[], measure: Measure): void {
  const colours = palette.value;
  const most = Math.max(...bars.map((bar) => bar.count), 1);
  const step = width / bars.length;
  const every = Math.ceil(64 / step);
  bars.forEach((bar, at) => {
    const height = (bar.count / most) * (HEIGHT - BOTTOM - TOP);
    const x = at * step;
    if (bar.count > 0) {
      pen.box(
        x + 1,
        HEIGHT - BOTTOM - Math.max(height, 1),
        Math.max(step - 2, 1),
        Math.max(height, 1),
        series[shade.value][0]!,
      );
    }
    if (step > 34 && bar.count > 0)
      pen.text(humanCount(bar.count), x + 2, HEIGHT - BOTTOM - height - 8, colours.faint, 11);
    const fits = at % every === 0 && x < width - LABEL;
    if (fits) pen.text(humanNumber(bar.from, measure), x + 1, HEIGHT - BOTTOM / 2, colours.text, 11);
  });
  pen.line([0, HEIGHT - BOTTOM, width, HEIGHT - BOTTOM], colours.line);
}

export function Histogram({ title, rows, measure }: HistogramProps): JSX.Element {
  const bars = useMemo(() => powerBars(rows), [rows]);
  const draw = useMemo(() => (pen: Pen, width: number) => drawBars(pen, width, bars, measure), [bars, measure]);
  if (bars.length === 0) return <Empty what={`${title}: no such call was recorded`} />;
  const calls = bars.reduce((sum, bar) => sum + bar.count, 0);
  const range = `${humanNumber(bars[0]!.from, measure)} to ${humanNumber(bars.at(-1)!.to, measure)}`;
  return (
    <Drawn
      title={title}
      label={`${title}: ${counted(calls, "call")} from ${range}, in powers of two`}
      height={HEIGHT}
      draw={draw}
      table={() => ({
        columns: [
          { name: "from", measure },
          { name: "to", measure },
          { name: "calls", measure: "count" },
        ],
        rows: bars.map((bar) => [bar.from, bar.to, bar.count]),
      })}
    />
  );
}

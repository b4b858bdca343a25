// SPDX-License-Identifier: MIT
// A small line over time, as SVG: one of many beside each other.
import type { JSX } from "preact";
import type { Pen } from "../../draw/pen";
import { escapeName } from "../../logic/escape";
import type { AlertMark } from "../../logic/fleet";
import type { TableData } from "../../logic/table";
import { humanNumber, type Measure } from "../../logic/units";
import { palette } from "../../theme/theme";
import { SaveBar, type Picture } from "./save_bar";

const WIDTH = 240;
const HEIGHT = 48;

// Gaps are bridged: a counter that was not read in a bin has not gone away.
export function pointsOf(values: readonly (number | null)[]): number[] {
  const most = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points: number[] = [];
  values.forEach((value, at) => {
    if (value === null) return;
    const y = HEIGHT - (Math.max(value, 0) / most) * (HEIGHT - 2) - 1;
    points.push(Math.round(at * step * 10) / 10, Math.round(y * 10) / 10);
  });
  if (points.length === 2) points.push(WIDTH, points[1]!);
  return points;
}

interface SparklineProps {
  name: string;
  values: readonly (number | null)[];
  measure: Measure;
  onPick?: () => void;
  alerts?: readonly AlertMark[]; // values at which something changed
}

function Alerts({ alerts, measure }: { alerts: readonly AlertMark[]; measure: Measure }): JSX.Element {
  return (
    <ul class="alerts">
      {alerts.map(({ at, before, after }) => (
        <li key={at}>
          record {at + 1}: {humanNumber(before, measure)} became {humanNumber(after, measure)}
        </li>
      ))}
    </ul>
  );
}

// In files: larger, below its name.
function pictureOf({ name, values, measure, alerts = [] }: SparklineProps): Picture {
  const [scale, top] = [3, 24];
  const most = Math.max(...values.map((value) => value ?? 0), 0);
  const draw = (pen: Pen): void => {
    const { text, accent } = palette.peek();
    pen.text(`${escapeName(name)}, at most ${humanNumber(most, measure)}`, 4, top / 2, text, 13);
    const points = pointsOf(values).map((place, at) => place * scale + (at % 2 ? top : 0));
    if (points.length > 2) pen.line(points, accent, 1.5);
    for (const { at } of alerts) {
      const x = (at * WIDTH * scale) / Math.max(values.length - 1, 1);
      pen.line([x, top, x, top + HEIGHT * scale], text, 2);
    }
  };
  return { width: WIDTH * scale, height: HEIGHT * scale + top, draw };
}

function tableOf({ name, values, measure }: SparklineProps): TableData {
  const columns = [
    { name: "place", measure: "count" as const },
    { name, measure },
  ];
  return { columns, rows: values.map((value, at) => [at + 1, value]) };
}

export function Sparkline(props: SparklineProps): JSX.Element {
  const { name, values, measure, onPick, alerts = [] } = props;
  const most = Math.max(...values.map((value) => value ?? 0), 0);
  const title = `${escapeName(name)}, at most ${humanNumber(most, measure)}`;
  return (
    <figure class="sparkline">
      <figcaption>
        {onPick ? (
          <button type="button" onClick={onPick}>
            {escapeName(name)}
          </button>
        ) : (
          escapeName(name)
        )}
        <span class="number">{humanNumber(most, measure)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={title}>
        <polyline
          points={pointsOf(values).join(" ")}
          fill="none"
          stroke="currentColor"
          vector-effect="non-scaling-stroke"
        />
        {alerts.map(({ at }) => {
          const x = (at * WIDTH) / Math.max(values.length - 1, 1);
          const look = { class: "alert", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "3 2" };
          return <line key={at} x1={x} x2={x} y1={0} y2={HEIGHT} vector-effect="non-scaling-stroke" {...look} />;
        })}
      </svg>
      <SaveBar name={escapeName(name)} picture={() => pictureOf(props)} table={() => tableOf(props)} />
      {alerts.length > 0 && <Alerts alerts={alerts} measure={measure} />}
    </figure>
  );
}

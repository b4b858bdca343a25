// SPDX-License-Identifier: MIT
// A small line over time, as SVG: one of many beside each other.
import type { JSX } from "preact";
import { escapeName } from "../../logic/escape";
import type { AlertMark } from "../../logic/fleet";
import { humanNumber, type Measure } from "../../logic/units";

const WIDTH = 240;
const HEIGHT = 48;

// Gaps are bridged: a counter that was not read in a bin has not gone away.
export function pointsOf(values: readonly (number | null)[]): string {
  const most = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points: string[] = [];
  values.forEach((value, at) => {
    if (value === null) return;
    const y = HEIGHT - (Math.max(value, 0) / most) * (HEIGHT - 2) - 1;
    points.push(`${Math.round(at * step * 10) / 10},${Math.round(y * 10) / 10}`);
  });
  if (points.length === 1) points.push(`${WIDTH},${points[0]!.split(",")[1]}`);
  return points.join(" ");
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

export function Sparkline({ name, values, measure, onPick, alerts = [] }: SparklineProps): JSX.Element {
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
        <polyline points={pointsOf(values)} fill="none" stroke="currentColor" vector-effect="non-scaling-stroke" />
        {alerts.map(({ at }) => {
          const x = (at * WIDTH) / Math.max(values.length - 1, 1);
          const look = { class: "alert", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "3 2" };
          return <line key={at} x1={x} x2={x} y1={0} y2={HEIGHT} vector-effect="non-scaling-stroke" {...look} />;
        })}
      </svg>
      {alerts.length > 0 && <Alerts alerts={alerts} measure={measure} />}
    </figure>
  );
}

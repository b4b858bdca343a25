// SPDX-License-Identifier: MIT
// A small line over time, as SVG: one of many beside each other.
import type { JSX } from "preact";
import { escapeName } from "../../logic/escape";
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
}

export function Sparkline({ name, values, measure, onPick }: SparklineProps): JSX.Element {
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
      </svg>
    </figure>
  );
}

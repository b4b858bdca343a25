// SPDX-License-Identifier: MIT
// One counter over time. All plots of the page share one cursor; a drag selects a range for all views.
import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { useSize } from "../../draw/canvas";
import { ticksOf, type Tick } from "../../logic/axis";
import { boundsOf, type CounterPicture } from "../../logic/counters";
import { escapeName } from "../../logic/escape";
import { counted, humanNs, humanNumber } from "../../logic/units";
import { select } from "../../state/selection";
import { series as seriesColours } from "../../theme/layers";
import { palette, shade } from "../../theme/theme";
import { marks, moment, type Camera } from "../../timeline/camera";
import { SaveBar } from "../parts/save_bar";
import { plotPicture } from "./plot_picture";

const HEIGHT = 150;
const MOST_LINES = 8;
const VALUES = 76; // pixels of the axis of values

function axes(ticks: readonly Tick[], width: number, seen: Camera): uPlot.Axis[] {
  const { faint, line } = palette.value;
  const look = { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const { step, times } = marks(seen, width - VALUES);
  return [
    { ...look, splits: () => times, values: () => times.map((time) => moment(time, step)), size: 28 },
    {
      ...look,
      splits: () => ticks.map(({ value }) => value),
      values: () => ticks.map(({ text }) => text),
      size: VALUES,
    },
  ];
}

function lines(picture: CounterPicture): uPlot.Series[] {
  const colours = seriesColours[shade.value];
  return picture.series
    .slice(0, MOST_LINES)
    .map(({ label }, at) => ({
      label: escapeName(label),
      stroke: colours[at % colours.length]!,
      width: 1.5,
      spanGaps: true,
      points: { show: picture.times.length < 40, size: 4 },
      value: (_plot, value) => (value === null ? "-" : humanNumber(value, picture.measure)),
    }));
}

// All plots show the same time, so that one stands below the other.
function optionsOf(picture: CounterPicture, width: number, seen: Camera): uPlot.Options {
  const { low, high } = boundsOf(picture, MOST_LINES);
  const ticks = ticksOf(low, high, picture.measure);
  return {
    width,
    height: HEIGHT,
    axes: axes(ticks, width, seen),
    series: [{ label: "time", value: (_plot, time) => (time === null ? "-" : humanNs(time)) }, ...lines(picture)],
    scales: { x: { time: false, range: [seen.from, seen.to] }, y: { range: [ticks[0]!.value, ticks.at(-1)!.value] } },
    cursor: { sync: { key: "fathom" }, drag: { x: true, y: false, setScale: false } },
    legend: { live: true },
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, "x");
          const to = plot.posToVal(plot.select.left + plot.select.width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          select({ from: Math.max(0, Math.round(from)), to: Math.round(to) });
        },
      ],
    },
  };
}

function dataOf(picture: CounterPicture): uPlot.AlignedData {
  return [picture.times, ...picture.series.slice(0, MOST_LINES).map(({ values }) => values)];
}

// Whether it is, or was, on the screen or just below: a hundred plots at once would block the page.
function useNear(holder: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true),
      { rootMargin: "200px" },
    );
    if (holder.current) observer.observe(holder.current);
    return () => observer.disconnect();
  }, []);
  return near;
}

// uPlot draws into an element that is its own: it is made anew where what it was made of changes, and destroyed with
// the component.
export function Plot({ picture, seen }: { picture: CounterPicture; seen: Camera }): JSX.Element {
  const [holder, size] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const width = size.value.width;
  const near = useNear(holder);
  useEffect(() => {
    if (!holder.current || width === 0 || !near) return;
    const made = new uPlot(optionsOf(picture, width, seen), dataOf(picture), holder.current);
    plot.current = made;
    return () => made.destroy();
  }, [picture, width, near, seen.from, seen.to, palette.value]);
  const left = picture.series.length - MOST_LINES;
  return (
    <figure class="plot">
      <figcaption>
        {escapeName(picture.title)}
        <SaveBar
          name={picture.title}
          picture={() => plotPicture(picture, seen, Math.max(width, 400), MOST_LINES)}
          table={() => ({
            columns: [
              { name: "ts", measure: "ns" },
              ...picture.series.map(({ label }) => ({ name: label, measure: picture.measure })),
            ],
            rows: picture.times.map((time, at) => [time, ...picture.series.map(({ values }) => values[at] ?? null)]),
          })}
        />
      </figcaption>
      <div ref={holder} class="uplot-holder" role="img" aria-label={`${escapeName(picture.title)} over time`} />
      {left > 0 && <p class="note">{counted(left, "more line")} in the CSV.</p>}
    </figure>
  );
}

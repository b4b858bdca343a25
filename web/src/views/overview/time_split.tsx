// SPDX-License-Identifier: MIT
// Where the threads' time went: by state and cause where layer cpu tells (view `time`), and by layer.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Asked } from "../../api/asked";
import { hexOf, mixed, rgbOf } from "../../logic/colours";
import { rowsOf, type Report } from "../../logic/report";
import { Beside } from "../../shell/states";
import { select } from "../../state/selection";
import { layerColour, series, type Shade } from "../../theme/layers";
import { shade } from "../../theme/theme";
import { goToFlame } from "../parts/go";
import { SplitBar } from "../parts/split_bar";
import type { Share } from "../parts/split_bar_picture";

export function layerShares(report: Report, how: Shade): Share[] {
  const rows = rowsOf(report, "time_by_layer").filter((row) => Number(row["share"]) > 0);
  return rows.map((row) => {
    const name = String(row["layer"]);
    return { name, time: Number(row["self"]), share: Number(row["share"]), colour: layerColour(name, how) };
  });
}

const STATES = ["running", "waiting", "ready", "unexplained"];

// Rows of one state and cause are one share: "waiting: lock".
export function timeShares(report: Report, how: Shade): Share[] {
  const sums = new Map<string, Share>();
  for (const row of rowsOf(report, "where_the_threads_time_went")) {
    const state = String(row["state"]);
    const name = row["cause"] === null || state === "running" ? state : `${state}: ${String(row["cause"])}`;
    const share = sums.get(name) ?? { name, time: 0, share: 0, colour: "" };
    sums.set(name, { ...share, time: share.time + Number(row["time"]), share: share.share + Number(row["share"]) });
  }
  return colouredStates(
    [...sums.values()].sort((a, b) => b.time - a.time),
    how,
  );
}

function stateOf({ name }: Share): string {
  return name.split(":")[0]!;
}

// A hue for each state; its causes take turns with tints of it, so that neighbours can be told apart.
export function colouredStates(shares: readonly Share[], how: Shade): Share[] {
  const ground = rgbOf(how === "light" ? "#ffffff" : "#000000");
  const met = new Map<string, number>();
  return shares.map((share) => {
    const state = stateOf(share);
    const turn = met.get(state) ?? 0;
    met.set(state, turn + 1);
    const place = STATES.indexOf(state);
    const hue = rgbOf(series[how][(place < 0 ? 7 : place * 2) % series[how].length]!);
    return { ...share, colour: hexOf(mixed(hue, ground, (turn % 4) * 0.18)) };
  });
}

interface TimeSplitProps {
  overview: Report;
  time: Asked<Report | null>;
}

export function TimeSplit({ overview, time: asked }: TimeSplitProps): JSX.Element {
  const time = asked.value;
  const layers = useMemo(() => layerShares(overview, shade.value), [overview, shade.value]);
  const states = useMemo(() => (time ? timeShares(time, shade.value) : []), [time, shade.value]);
  const known = (name: string): boolean => !name.startsWith("(");
  return (
    <section aria-label="Where every thread's time went" class="columns">
      {states.length > 0 && (
        <Beside of={asked}>
          <SplitBar
            title="Threads' time by what they did"
            shares={states}
            onShare={(share) => goToFlame(stateOf(share) === "running" ? "cpu" : "offcpu")}
          />
        </Beside>
      )}
      <SplitBar
        title="Threads' time by layer, excluding nested calls"
        shares={layers}
        onShare={({ name }) => select(known(name) ? { view: "timeline", layers: [name] } : { view: "timeline" })}
      />
    </section>
  );
}

// SPDX-License-Identifier: MIT
// The levels of a call: a row each, indented below the one that it is part of.
import type { JSX } from "preact";
import type { Pen } from "../../draw/pen";
import { escapeName } from "../../logic/escape";
import { eventsNamed } from "../../logic/places";
import { rowsOf, tableOf, type Report, type ReportRow } from "../../logic/report";
import { humanNs, humanPercent, withThousands } from "../../logic/units";
import { Empty } from "../../shell/states";
import { layerColour } from "../../theme/layers";
import { palette, shade } from "../../theme/theme";
import { goToFunction } from "../parts/go";
import { SaveBar, type Picture } from "../parts/save_bar";

const KEY = "where_the_time_went";
const LINE = 22;

interface LevelFacts {
  depth: number;
  call: string; // as it is shown
  name: string;
  layer: string;
  calls: string;
  time: string;
  share: number;
}

function factsOf(row: ReportRow): LevelFacts {
  return {
    depth: Number(row["depth"]),
    call: escapeName(String(row["call"])),
    name: String(row["call"]),
    layer: String(row["layer"] ?? ""),
    calls: row["calls"] === null ? "-" : withThousands(Number(row["calls"])),
    time: humanNs(Number(row["time"] ?? 0)),
    share: Number(row["share"] ?? 0),
  };
}

function drawLevels(pen: Pen, levels: readonly LevelFacts[]): void {
  const { text, faint } = palette.value;
  levels.forEach(({ depth, call, layer, calls, time, share }, at) => {
    const y = (at + 0.5) * LINE;
    pen.text(call, 4 + depth * 20, y, text);
    pen.text(layer, 380, y, faint);
    pen.text(`${calls}  ${time}  ${humanPercent(share)}`, 470, y, text);
    pen.box(680, y - 6, Math.max(share * 3.2, 1), 12, layerColour(layer, shade.value));
  });
}

function pictureOf(levels: readonly LevelFacts[]): Picture {
  return { width: 1000, height: levels.length * LINE, draw: (pen) => drawLevels(pen, levels) };
}

// What stands in brackets is no call: it has no place of its own.
function Level({ depth, call, name, layer, calls, time, share }: LevelFacts): JSX.Element {
  const go = (): void => void goToFunction(name, eventsNamed(name, layer));
  const leads = !call.startsWith("(") && {
    tabIndex: 0,
    class: "leads",
    title: "Show in the timeline",
    onClick: go,
    onKeyDown: (event: KeyboardEvent) => event.key === "Enter" && go(),
  };
  return (
    <tr {...leads}>
      <th scope="row" style={{ paddingLeft: `${depth * 20 + 8}px` }}>
        {call}
      </th>
      <td>{escapeName(layer)}</td>
      <td class="number">{calls}</td>
      <td class="number">{time}</td>
      <td class="number">{humanPercent(share)}</td>
      <td class="share">
        <span style={{ width: `${Math.min(share, 100)}%`, background: layerColour(layer, shade.value) }} />
      </td>
    </tr>
  );
}

const HEADINGS: readonly (readonly [string, string])[] = [
  ["call", ""],
  ["layer", ""],
  ["calls", "number"],
  ["time", "number"],
  ["share", "number"],
  ["of the call", ""],
];

export function Levels({ report }: { report: Report }): JSX.Element {
  const levels = rowsOf(report, KEY).map(factsOf);
  if (levels.length === 0)
    return (
      <Empty
        what="No recorded call matches"
        hint="Choose another call, or another part. fathom run --layers +syscall,block --detail syscall,block records what is below calls."
      />
    );
  return (
    <figure class="levels">
      <figcaption>
        Where the time of {levels[0]!.call} went
        <SaveBar name="Where the time went" picture={() => pictureOf(levels)} table={() => tableOf(report, KEY)} />
      </figcaption>
      <table>
        <thead>
          <tr>
            {HEADINGS.map(([name, kind]) => (
              <th key={name} scope="col" class={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {levels.map((level, at) => (
            <Level key={at} {...level} />
          ))}
        </tbody>
      </table>
    </figure>
  );
}

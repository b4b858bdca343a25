// SPDX-License-Identifier: MIT
// What the rules found, the gravest first. Each leads to the events that it speaks of.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { escapeName } from "../../logic/escape";
import { shellJoin } from "../../logic/fleet";
import { placeIn, type Place as PlaceOf } from "../../logic/places";
import type { Insight } from "../../logic/report";
import { humanNs } from "../../logic/units";
import { recording } from "../../state/page";
import { placeForCommands } from "../parts/command_place";
import { goToPlace } from "../parts/go";

function Place({ place }: { place: PlaceOf }): JSX.Element {
  const [failure, setFailure] = useState("");
  const go = (): void => {
    goToPlace(place).catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)));
  };
  return (
    <p>
      <button type="button" onClick={go}>
        Show {place.view === "timeline" ? "in the timeline" : `in ${place.view}`}
      </button>
      {failure && <span role="alert"> {failure}</span>}
    </p>
  );
}

// Which rule it was, and how to see what it saw, or to do without it.
function Why({ rule }: { rule: string }): JSX.Element {
  const chosen = recording.value;
  const command = shellJoin(["fathom", "show", chosen ? placeForCommands(chosen) : "TRACE", rule]);
  return (
    <details>
      <summary>Why?</summary>
      <p>
        Rule <code>{escapeName(rule)}</code> found this. <code>{escapeName(command)}</code> shows the rows behind it.
      </p>
      <p>
        A rule of the same id replaces it: a file <code>{escapeName(rule)}.sql</code> in{" "}
        <code>~/.config/fathom/rules</code> whose query finds no row switches it off (docs/rules.md has the form of such
        a file).
      </p>
    </details>
  );
}

function One({ insight }: { insight: Insight }): JSX.Element {
  const { severity, title, says, gain, why } = insight;
  const place = placeIn(insight.place);
  return (
    <li class={`insight ${severity}`}>
      <h3>
        <span class="severity">{severity}</span> {escapeName(title)}
      </h3>
      <p>{escapeName(says)}.</p>
      {gain !== null && (
        <p>
          Could save up to <b>{humanNs(gain)}</b>: {escapeName(why)}.
        </p>
      )}
      {severity !== "good" && insight.try && <p class="advice">Try: {escapeName(insight.try)}.</p>}
      {place && <Place place={place} />}
      <Why rule={insight.rule} />
    </li>
  );
}

export function Insights({ insights }: { insights: readonly Insight[] }): JSX.Element {
  return (
    <section aria-label="Insights">
      <h2>Insights</h2>
      {insights.length === 0 && <p>No rule found anything to improve.</p>}
      <ol class="insights">
        {insights.map((insight) => (
          <One key={insight.rule} insight={insight} />
        ))}
      </ol>
    </section>
  );
}

// SPDX-License-Identifier: MIT
// What the rules found, the gravest first. Each leads to the events that it speaks of.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { escapeName } from "../../logic/escape";
import { placeIn, type Place as PlaceOf } from "../../logic/places";
import type { Insight } from "../../logic/report";
import { humanNs } from "../../logic/units";
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

// SPDX-License-Identifier: MIT
// All that is known of the event that was clicked: its fields, what it is inside of, and what it belongs to elsewhere.
import type { JSX } from "preact";
import type { Cell, EventFacts } from "../api/types";
import { escapeName } from "../logic/escape";
import { counted, humanBytes, humanNs, withThousands } from "../logic/units";
import { fieldsWords } from "../inside/words";
import { Answered } from "../shell/states";
import type { Hit } from "./hit";
import type { TimelineModel } from "./model";

const times = ["ts", "dur", "start", "end"];
const sizes = ["bytes", "size"];

export function fieldText(name: string, value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number" && times.includes(name)) return `${humanNs(value)} (${withThousands(value)} ns)`;
  if (typeof value === "number" && sizes.includes(name) && value >= 1024)
    return `${humanBytes(value)} (${withThousands(value)})`;
  return escapeName(typeof value === "object" ? JSON.stringify(value) : String(value));
}

function Fields({ fields }: { fields: { [name: string]: Cell } }): JSX.Element {
  const rows = Object.entries(fields).flatMap(([name, value]): [string, Cell][] =>
    name === "args" && value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).map(([key, each]) => [`args.${key}`, each])
      : [[name, value]],
  );
  return (
    <table class="fields">
      <tbody>
        {rows
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{escapeName(name)}</th>
              <td>{fieldText(name, value)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function Related({
  title,
  list,
  model,
}: {
  title: string;
  list: EventFacts["parents"];
  model: TimelineModel;
}): JSX.Element | null {
  if (list.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {list.map((each, at) => (
          <li key={at}>
            <button type="button" class="link" onClick={() => showRelated(model, each)}>
              {fieldText("name", each["name"] ?? null)}
            </button>{" "}
            <span class="faint">{typeof each["dur"] === "number" ? humanNs(each["dur"]) : ""}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function showRelated(model: TimelineModel, each: { [name: string]: Cell }): void {
  const { ts, dur } = each;
  if (typeof ts === "number") model.show(ts, ts + (typeof dur === "number" ? dur : 0));
}

function Several({ hit, model }: { hit: Hit; model: TimelineModel }): JSX.Element {
  return (
    <>
      <p>
        {counted(hit.count, "event")} too short to be drawn one by one here; most of the time is in{" "}
        <strong>{escapeName(hit.name)}</strong>.
      </p>
      <button type="button" onClick={() => model.show(hit.start, hit.start + hit.dur)}>
        Zoom in
      </button>
    </>
  );
}

export function Details({ model }: { model: TimelineModel }): JSX.Element | null {
  const hit = model.chosen.value;
  if (!hit) return null;
  return (
    <aside class="tl-details" aria-label="Details">
      <div class="tl-details-head">
        <h2>{escapeName(hit.name)}</h2>
        <button type="button" aria-label="Close details" onClick={() => model.choose(null)}>
          ×
        </button>
      </div>
      <p class="faint">
        {escapeName(hit.layer)} in {escapeName(hit.track.name)}, {humanNs(hit.dur)} at {humanNs(hit.start)}
      </p>
      {hit.row < 0 ? (
        <Several hit={hit} model={model} />
      ) : (
        <Answered of={model.event} what="Reading the event">
          {(facts) => (
            <>
              <Fields fields={facts.event} />
              <Related title="Inside of" list={facts.parents} model={model} />
              <Related title="Belongs to" list={facts.flows} model={model} />
              {fieldsWords() && <p class="hint">{fieldsWords()}</p>}
            </>
          )}
        </Answered>
      )}
    </aside>
  );
}

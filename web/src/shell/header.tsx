// SPDX-License-Identifier: MIT
// The line on top: which recording, which view, what to search for, light or dark, help.
import type { JSX } from "preact";
import { escapeName } from "../logic/escape";
import { humanNs } from "../logic/units";
import { page, recording, recordings } from "../state/page";
import { findNext, searchText } from "../state/search";
import { hashOf, ofAnotherRecording } from "../state/hash";
import { select, selection } from "../state/selection";
import { choice, choose, type Choice } from "../theme/theme";
import { EventCount } from "./event_count";
import { showHelp } from "./help";
import { canSelectWhere, viewOf, type ViewDef } from "./views";
import { showWhere } from "./where_field";

function RecordingPicker(): JSX.Element | null {
  const all = recordings.value;
  const now = recording.value;
  if (all.length < 2) return now ? <span class="recording-name">{escapeName(now.name)}</span> : null;
  return (
    <select
      aria-label="Recording"
      value={now?.id ?? ""}
      onChange={(event) => select(ofAnotherRecording(selection.peek(), event.currentTarget.value))}
    >
      {all.map((each) => (
        <option key={each.id} value={each.id}>
          {escapeName(each.name)}
        </option>
      ))}
    </select>
  );
}

const stateWords = { running: "recording now", partial: "partial", complete: "" };

function RecordingFacts(): JSX.Element | null {
  const now = recording.value;
  if (!now) return null;
  const words = stateWords[now.state];
  return (
    <span class="recording-facts">
      {humanNs(now.wall_ns)}
      <EventCount key={now.id} recording={now.id} before=", " words />
      {words && (
        <span class={`badge ${now.state}`} title={escapeName(now.state_reason ?? "")}>
          {words}
        </span>
      )}
    </span>
  );
}

function Tabs({ views }: { views: readonly ViewDef[] }): JSX.Element {
  const chosen = viewOf(selection.value.view);
  return (
    <nav aria-label="Views">
      {views.map((view) => (
        <a
          key={view.id}
          href={hashOf({ ...selection.value, view: view.id })}
          aria-current={view === chosen ? "page" : undefined}
          title={`${view.title} (key ${view.key})`}
        >
          {view.title}
        </a>
      ))}
    </nav>
  );
}

function onSearchKey(event: KeyboardEvent): void {
  if (event.key === "Enter") findNext(event.shiftKey);
  if (event.key === "Escape") {
    searchText.value = "";
    (event.currentTarget as HTMLElement).blur();
  }
}

function Search(): JSX.Element {
  return (
    <input
      id="search"
      type="search"
      placeholder="Search ( / )"
      aria-label="Search"
      autocomplete="off"
      spellcheck={false}
      value={searchText.value}
      onInput={(event) => {
        searchText.value = event.currentTarget.value;
      }}
      onKeyDown={onSearchKey}
    />
  );
}

function ThemeSwitch(): JSX.Element {
  return (
    <select aria-label="Colours" value={choice.value} onChange={(event) => choose(event.currentTarget.value as Choice)}>
      <option value="system">system</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  );
}

export function Header({ views }: { views: readonly ViewDef[] }): JSX.Element {
  return (
    <header>
      <h1 title={page.value ? `Fathom ${page.value.version}` : "Fathom"}>Fathom</h1>
      <RecordingPicker />
      <RecordingFacts />
      <Tabs views={views} />
      <span class="grow" />
      {canSelectWhere() && (
        <button type="button" title="Select events by a condition (key c)" onClick={showWhere}>
          where
        </button>
      )}
      <Search />
      <ThemeSwitch />
      <button type="button" aria-label="Help" title="Help (key ?)" onClick={showHelp}>
        ?
      </button>
    </header>
  );
}

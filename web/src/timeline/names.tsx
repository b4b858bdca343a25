// SPDX-License-Identifier: MIT
// The names of the tracks on screen, beside the canvas: to collapse, to pin, to select. Only those that can be seen are
// part of the document.
import type { JSX } from "preact";
import type { Track } from "../api/types";
import { escapeName } from "../logic/escape";
import { counted } from "../logic/units";
import { select, selection } from "../state/selection";
import type { TimelineModel } from "./model";
import { isCounterGroup, isDeep, type Row } from "./rows";
import { clicked } from "./track_selection";

// A group of counters is nothing that questions could be limited to: its name opens and closes it.
function selectTrack(model: TimelineModel, { track }: Row, event: MouseEvent): void {
  if (isCounterGroup(track)) model.toggle(track);
  else if (event.ctrlKey || event.metaKey || event.shiftKey) model.mark(track);
  else select(clicked(selection.peek(), track));
}

function titleOf(track: Track): string {
  const name = escapeName(track.name);
  if (isCounterGroup(track)) return name;
  const what = { samples: "sample", counter: "value" }[track.kind as string] ?? "event";
  return `${name}: ${counted(track.events, what)}`;
}

function Name({ model, row }: { model: TimelineModel; row: Row }): JSX.Element {
  const { track } = row;
  const name = escapeName(track.name);
  const levels = row.more > 0 ? counted(row.more, "more level") : "fewer levels";
  const place = {
    top: `${row.y - model.top.value}px`,
    height: `${row.height}px`,
    paddingLeft: `${4 + row.level * 12}px`,
  };
  return (
    <li class={`tl-name ${track.kind}`} style={place}>
      {row.group && !row.pinned ? (
        <button
          type="button"
          class="tl-fold"
          aria-expanded={!row.collapsed}
          aria-label={`${row.collapsed ? "Expand" : "Collapse"} ${name}`}
          onClick={() => model.toggle(track)}
        >
          {row.collapsed ? "▸" : "▾"}
        </button>
      ) : (
        <span class="tl-fold" />
      )}
      <button
        type="button"
        class={model.marked.value.some(({ id }) => id === track.id) ? "tl-label marked" : "tl-label"}
        title={titleOf(track)}
        onClick={(event) => selectTrack(model, row, event)}
      >
        {name}
      </button>
      {isDeep(track) && !row.collapsed && (
        <button
          type="button"
          class="tl-more"
          aria-label={`${levels} of ${name}`}
          onClick={() => model.toggleLevels(track.id)}
        >
          {levels}
        </button>
      )}
      {track.kind !== "host" && !isCounterGroup(track) && (
        <button
          type="button"
          class="tl-pin"
          aria-pressed={row.pinned || model.pinned.value.includes(track.id)}
          aria-label={`Pin ${name}`}
          title="Pin to the top"
          onClick={() => model.togglePin(track.id)}
        >
          {row.pinned || model.pinned.value.includes(track.id) ? "★" : "☆"}
        </button>
      )}
    </li>
  );
}

export function Names({ model }: { model: TimelineModel }): JSX.Element {
  return (
    <ul class="tl-names" aria-label="Tracks">
      {model.visible.value.map((row) => (
        <Name key={`${row.pinned ? "p" : ""}${row.track.id}`} model={model} row={row} />
      ))}
    </ul>
  );
}

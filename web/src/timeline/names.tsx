// SPDX-License-Identifier: MIT
// The names of the tracks on screen, beside the canvas: to collapse, to pin, to select. Only those that can be seen are
// part of the document.
import type { JSX } from "preact";
import { escapeName } from "../logic/escape";
import { withThousands } from "../logic/units";
import { select, selection } from "../state/selection";
import type { TimelineModel } from "./model";
import type { Row } from "./rows";

function selectTrack({ track }: Row): void {
  const now = selection.peek();
  if (track.kind === "host") select({ hosts: now.hosts.length ? [] : [track.host ?? track.name] });
  else if (track.kind === "process" && track.pid !== null) select({ pids: now.pids.length ? [] : [track.pid] });
  else if (track.tid !== null) select({ tids: now.tids.length ? [] : [track.tid] });
}

function Name({ model, row }: { model: TimelineModel; row: Row }): JSX.Element {
  const { track } = row;
  const name = escapeName(track.name);
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
          onClick={() => model.toggle(track.id)}
        >
          {row.collapsed ? "▸" : "▾"}
        </button>
      ) : (
        <span class="tl-fold" />
      )}
      <button
        type="button"
        class="tl-label"
        title={`${name}: ${withThousands(track.events)} events`}
        onClick={() => selectTrack(row)}
      >
        {name}
      </button>
      {track.kind !== "host" && (
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

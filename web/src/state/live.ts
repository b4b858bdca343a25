// SPDX-License-Identifier: MIT
// Follows a recording that is being made: the server tells about once a second how far it is (/changes). At its end, and
// when a lost server is back, everything is asked again.
import { effect } from "@preact/signals";
import { queryOf, reachable } from "../api/transport";
import type { Change } from "../api/types";
import { changes, page, recording, revision } from "./page";
import { listen } from "./stream";

// What the server reads of a recording that is being made may be older than what it tells here: where nothing has come since,
// everything is asked again after so many messages.
const againAfter = [2, 8];
const quiet = new Map<string, number>(); // messages since it has grown

function heard(id: string, text: string): void {
  let change: Change;
  try {
    change = JSON.parse(text) as Change;
  } catch {
    return; // half a message of a server that went away
  }
  const before = changes.peek()[id];
  const { state, wall_ns, events } = change;
  changes.value = { ...changes.peek(), [id]: { state, wall_ns, events } };
  const hasGrown = before?.events !== events || before.state !== state;
  const since = hasGrown ? 0 : (quiet.get(id) ?? 0) + 1;
  quiet.set(id, since);
  if (hasGrown || againAfter.includes(since)) revision.value += 1;
  if (state !== "running") page.refresh();
}

// A window that comes to the front hears within a second what it missed.
function follow(id: string): () => void {
  return listen(`/changes${queryOf({ recording: id })}`, ({ type, data }) => {
    if (type === "message") heard(id, data);
  });
}

// Only while it is being made: one that is complete changes no more.
export function followRecording(): () => void {
  let followed = "";
  let close = (): void => {};
  const stop = effect(() => {
    const now = recording.value;
    const wanted = now?.state === "running" ? now.id : "";
    if (wanted === followed) return;
    close();
    followed = wanted;
    close = wanted ? follow(wanted) : (): void => {};
  });
  return () => {
    stop();
    close();
  };
}

// A server that was away may have another recording, or more of it.
export function followServer(): () => void {
  let before = true;
  return effect(() => {
    const now = reachable.value;
    if (now && !before) {
      page.refresh();
      revision.value = revision.peek() + 1;
    }
    before = now;
  });
}

// SPDX-License-Identifier: MIT
// Follows a recording that is being made: the server tells about once a second how far it is (/changes). At its end, and
// when a lost server is back, everything is asked again.
import { effect } from "@preact/signals";
import { apiRoot, queryOf, reachable } from "../api/transport";
import type { Change } from "../api/types";
import { changes, page, recording, revision } from "./page";

const reopenAfterMs = 2000;

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
  if (before?.events !== events || before.state !== state) revision.value += 1;
  if (state !== "running") page.refresh();
}

// Opens the stream for a recording, again and again until `close`.
function follow(id: string): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource(`${apiRoot}/changes${queryOf({ recording: id })}`);
    source.onmessage = (message: MessageEvent<string>) => heard(id, message.data);
    source.onerror = () => {
      source?.close();
      timer = setTimeout(open, reopenAfterMs);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}

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

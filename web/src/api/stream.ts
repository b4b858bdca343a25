// SPDX-License-Identifier: MIT
// Server-sent events, asked for with fetch: an EventSource cannot send the page's key.
import { keyHeaders } from "./key";
import { apiRoot, queryOf, type Params } from "./transport";

const reopenAfterMs = 2000;

export interface StreamEvent {
  event: string; // "message" where it has no name
  data: string;
}

// The events that are whole in a text, and what is left of it.
export function eventsIn(text: string): { events: StreamEvent[]; rest: string } {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events: StreamEvent[] = [];
  for (const block of blocks) {
    const lines = block.split("\n");
    const valuesOf = (name: string): string[] =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ""));
    const data = valuesOf("data");
    if (data.length > 0) events.push({ event: valuesOf("event").at(-1) ?? "message", data: data.join("\n") });
  }
  return { events, rest };
}

export interface Listener {
  heard(event: StreamEvent): void;
  opened?(open: boolean): void;
}

async function read(url: string, listener: Listener, signal: AbortSignal): Promise<void> {
  const asked: RequestInit = { credentials: "same-origin", cache: "no-store", headers: keyHeaders(), signal };
  const response = await fetch(url, asked);
  if (!response.ok || !response.body) return;
  listener.opened?.(true);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const { events, rest } = eventsIn(text + part.value);
    text = rest;
    for (const event of events) listener.heard(event);
  }
}

// Opens the stream, again and again until the returned function is called.
export function followStream(path: string, params: Params, listener: Listener): () => void {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = async (): Promise<void> => {
    try {
      await read(`${apiRoot}${path}${queryOf(params)}`, listener, end.signal);
    } catch {
      // it is gone, and perhaps back in a moment
    }
    if (end.signal.aborted) return;
    listener.opened?.(false);
    timer = setTimeout(() => void open(), reopenAfterMs);
  };
  void open();
  return () => {
    clearTimeout(timer);
    end.abort();
  };
}

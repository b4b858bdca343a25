// SPDX-License-Identifier: MIT
// What arrives at the server, as long as somebody looks.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { apiRoot } from "../../api/transport";
import { withSecond, type Arrived } from "../../logic/fleet";

const REOPEN_MS = 2000;

export interface Live {
  seconds: readonly Arrived[];
  missed: number; // seconds that this page was too slow for
  open: boolean;
}

function listen(state: Signal<Live>): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const change = (change: Partial<Live>): void => {
    state.value = { ...state.peek(), ...change };
  };
  const open = (): void => {
    source = new EventSource(`${apiRoot}/events`);
    source.onopen = () => change({ open: true });
    source.addEventListener("arrived", (message: MessageEvent<string>) => {
      change({ seconds: withSecond(state.peek().seconds, JSON.parse(message.data) as Arrived) });
    });
    source.addEventListener("missed", (message: MessageEvent<string>) => {
      const { seconds = 0 } = JSON.parse(message.data) as { seconds?: number };
      change({ missed: state.peek().missed + seconds });
    });
    source.onerror = () => {
      source?.close();
      change({ open: false });
      timer = setTimeout(open, REOPEN_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}

export function useLive(): Signal<Live> {
  const state = useMemo(() => signal<Live>({ seconds: [], missed: 0, open: false }), []);
  useEffect(() => listen(state), []);
  return state;
}

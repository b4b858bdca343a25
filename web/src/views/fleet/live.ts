// SPDX-License-Identifier: MIT
// What arrives at the server, as long as somebody looks.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { withSecond, type Arrived } from "../../logic/fleet";
import { revision } from "../../state/page";
import { listen, type Said } from "../../state/stream";

export interface Live {
  seconds: readonly Arrived[];
  missed: number; // seconds that this page was too slow for, or that nobody looked at it
  open: boolean;
}

function heard(before: Live, { type, data }: Said): Partial<Live> {
  if (type === "arrived") return { open: true, seconds: withSecond(before.seconds, JSON.parse(data) as Arrived) };
  if (type !== "missed") return { open: type !== "lost" };
  return { missed: before.missed + ((JSON.parse(data) as { seconds?: number }).seconds ?? 0) };
}

function follow(state: Signal<Live>): () => void {
  const change = (change: Partial<Live>): void => {
    state.value = { ...state.peek(), ...change };
  };
  let left = document.hidden ? Date.now() : 0; // since when nobody looks
  const look = (): void => {
    if (document.hidden) {
      left = Date.now();
    } else if (left > 0) {
      change({ missed: state.peek().missed + Math.round((Date.now() - left) / 1000) });
      left = 0;
      revision.value += 1; // jobs may have come
    }
  };
  document.addEventListener("visibilitychange", look);
  let wasLost = false;
  const stop = listen("/events", (said) => {
    change(heard(state.peek(), said));
    const isOpen = state.peek().open;
    if (wasLost && isOpen) revision.value += 1; // the server may be another one, with other jobs
    wasLost = !isOpen;
  });
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop();
  };
}

export function useLive(): Signal<Live> {
  const state = useMemo(() => signal<Live>({ seconds: [], missed: 0, open: false }), []);
  useEffect(() => follow(state), []);
  return state;
}

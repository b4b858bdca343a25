// SPDX-License-Identifier: MIT
// What the server said of itself and its recordings, and which of them is being looked at.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { Asked } from "../api/asked";
import { api } from "../api/client";
import type { Change, PageFacts, Recording } from "../api/types";
import { setLayerColours } from "../theme/layers";
import { selection } from "./selection";

export const page = new Asked<PageFacts>();

export function askForPage(): void {
  page.ask(async (signal) => {
    const facts = await api.page(signal);
    setLayerColours(facts.layers);
    return facts;
  });
}

// Whether there is no server behind the page.
export const inFile: ReadonlySignal<boolean> = computed(() => page.value?.mode === "file");

export const recordings: ReadonlySignal<Recording[]> = computed(() => page.value?.recordings ?? []);

// What the server told of a recording since then, by id (live.ts).
export const changes = signal<Readonly<Record<string, Change>>>({});

// Another number whenever the recording's rows may have changed. Effects that ask the server read it, to ask again.
export const revision = signal(0);

// Apart, so that other changes of the selection are none of the recording.
const wantedId = computed(() => selection.value.recording);

// The selected recording; the first where the address names none, null where it names one that is not there.
export const recording: ReadonlySignal<Recording | null> = computed(() => {
  const wanted = wantedId.value;
  const all = recordings.value;
  const found = wanted ? all.find((each) => each.id === wanted) : all[0];
  return found ? { ...found, ...changes.value[found.id] } : null;
});

// The visible range: the selected one, or the whole recording.
export const range: ReadonlySignal<{ from: number; to: number }> = computed(() => {
  const wall = recording.value?.wall_ns ?? 0;
  return { from: selection.value.from ?? 0, to: selection.value.to ?? Math.max(wall, 1) };
});

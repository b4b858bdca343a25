// SPDX-License-Identifier: MIT
// The one selection that drives all views: time x host x process x thread x layer. It is mirrored into the address, so
// that back, forward, reload and a link to a colleague work.
//
//   select({ from: 1_000_000, to: 2_000_000 });       a new entry of the history
//   select({ view: "timeline", tids: [7] });          leads to a place in another view
//   setting("flame.weight", "time").value             a setting of a view, kept in the address as well
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Part } from "../api/client";
import { hashOf, nothingSelected, selectionOf, type Selection } from "./hash";

export type { Selection };

export const selection = signal<Selection>(nothingSelected);

// What questions to the server say of the selection.
export const part: ReadonlySignal<Part> = computed(() => {
  const { recording, from, to, hosts, pids, tids, layers, where } = selection.value;
  return { recording, from, to, hosts, pids, tids, layers, where };
});

export type HowKept = "push" | "replace";

// Changes some of it. "replace" is for what moves continuously: it leaves no trail of entries to go back through.
export function select(change: Partial<Selection>, how: HowKept = "push"): void {
  const next = { ...selection.peek(), ...change };
  const hash = hashOf(next);
  selection.value = next;
  if (hash === location.hash) return;
  if (how === "push") history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

// Everything but the view and the recording.
export function selectEverything(): void {
  const { view, recording, settings } = selection.peek();
  select({ ...nothingSelected, view, recording, settings });
}

export function isLimited(chosen: Selection): boolean {
  const lists = [chosen.hosts, chosen.pids, chosen.tids, chosen.layers];
  return chosen.from !== null || chosen.to !== null || chosen.where !== "" || lists.some((list) => list.length > 0);
}

export function setting(name: string, usual: string): ReadonlySignal<string> {
  return computed(() => selection.value.settings[name] ?? usual);
}

export function changeSetting(name: string, value: string | null, how: HowKept = "replace"): void {
  const settings = { ...selection.peek().settings };
  if (value === null) delete settings[name];
  else settings[name] = value;
  select({ settings }, how);
}

// Reads the address now, and again whenever somebody goes back or forward.
export function followAddress(): void {
  const read = (): void => {
    selection.value = selectionOf(location.hash);
  };
  read();
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
}

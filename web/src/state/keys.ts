// SPDX-License-Identifier: MIT
// Keys that do something wherever the focus is, except in a field that takes text. Help lists them by itself.
import { signal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface KeyDef {
  keys: readonly string[]; // as in KeyboardEvent.key; letters in lower case
  help: string; // what it does, in the imperative
  run: (event: KeyboardEvent) => void;
  when?: () => boolean; // absent: always
  held?: boolean; // also while Shift is held, or for repeated events
}

// What the mouse does: done where it is pressed, only told here, so that help has it too.
export interface MouseDef {
  gesture: string;
  help: string;
}

export const keyDefs = signal<readonly KeyDef[]>([]);
export const mouseDefs = signal<readonly MouseDef[]>([]);

function added<Def>(all: Signal<readonly Def[]>, defs: readonly Def[]): () => void {
  all.value = [...all.peek(), ...defs];
  return () => {
    all.value = all.peek().filter((def) => !defs.includes(def));
  };
}

export function addKeys(defs: readonly KeyDef[]): () => void {
  return added(keyDefs, defs);
}

// Keys of a view, as long as it is on the screen.
export function useKeys(make: () => readonly KeyDef[]): void {
  useEffect(() => addKeys(make()), []);
}

export function useMouseHelp(defs: readonly MouseDef[]): void {
  useEffect(() => added(mouseDefs, defs), []);
}

export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["button", "checkbox", "radio", "range"].includes(target.type);
}

export function pressed(event: KeyboardEvent): void {
  // Where [ and ] need AltGr, that counts as Ctrl and Alt.
  const held = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
  if (held || event.metaKey || event.defaultPrevented) return;
  if (takesText(event.target) || document.querySelector("dialog[open]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const def = [...keyDefs.peek()].reverse().find((each) => each.keys.includes(key) && (each.when?.() ?? true)); // a view's own go first
  if (!def) return;
  event.preventDefault();
  def.run(event);
}

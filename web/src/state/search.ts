// SPDX-License-Identifier: MIT
// The text in the search field of the frame. A view highlights what matches; Enter leads to the next place.
import { effect, signal } from "@preact/signals";
import { changeSetting, selection } from "./selection";

export const searchText = signal("");

const SETTING = "page.search";

// Keeps it in the address, too. Whoever goes back finds what was searched for there.
export function followSearch(): void {
  effect(() => {
    searchText.value = selection.value.settings[SETTING] ?? "";
  });
  effect(() => {
    const text = searchText.value;
    if (text !== (selection.peek().settings[SETTING] ?? "")) changeSetting(SETTING, text || null);
  });
}

// Counts presses of Enter (and, with Shift, of going back): a view that finds places watches it.
export const searchStep = signal<{ number: number; back: boolean }>({ number: 0, back: false });

export function findNext(back: boolean): void {
  searchStep.value = { number: searchStep.peek().number + 1, back };
}

// Case does not matter, and neither does where in the name it stands.
export function matcher(text: string): ((name: string) => boolean) | null {
  const wanted = text.trim().toLowerCase();
  return wanted ? (name) => name.toLowerCase().includes(wanted) : null;
}

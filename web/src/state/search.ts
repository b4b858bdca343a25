// SPDX-License-Identifier: MIT
// The text in the search field of the frame. A view highlights what matches; Enter leads to the next place.
import { signal } from "@preact/signals";

export const searchText = signal("");

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

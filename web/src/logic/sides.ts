// SPDX-License-Identifier: MIT
// The two sides of a comparison: a recording each, and further ones that repeat it.
import type { Recording } from "../api/types";

// As the address keeps them: an id in each line.
export function idsIn(text: string): string[] {
  return text.split("\n").filter(Boolean);
}

// Those of the address that are not there.
export function unknownIds(text: string, all: readonly Recording[]): string[] {
  return idsIn(text).filter((id) => all.every((each) => each.id !== id));
}

// Those of no such ids.
export function without(all: readonly Recording[], others: readonly Recording[]): Recording[] {
  return all.filter(({ id }) => others.every((other) => other.id !== id));
}

// The first recording of each side, in the order of the command line: the first is before, unless the address names another
// one; the current recording is after, unless it is before itself.
export function pairOf(
  all: readonly Recording[],
  current: Recording,
  before: string,
): { before: Recording; after: Recording } | null {
  const first = all.find(({ id }) => id === before) ?? all[0];
  if (!first) return null;
  if (first.id !== current.id) return { before: first, after: current };
  const [after] = without(all, [first]);
  return after ? { before: current, after } : null;
}

// Of those that are told, the ones that are here and not the other side's.
export function runsOf(
  first: Recording,
  more: string,
  all: readonly Recording[],
  other: readonly Recording[],
): Recording[] {
  const ids = idsIn(more);
  return [first, ...without(all, [first, ...other]).filter(({ id }) => ids.includes(id))];
}

// With one more, or without it.
export function toggledId(text: string, id: string): string | null {
  const ids = idsIn(text);
  const next = ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id];
  return next.join("\n") || null;
}

export function countRuns(recordings: readonly Recording[]): number {
  return recordings.reduce((sum, { runs }) => sum + (runs ?? 1), 0);
}

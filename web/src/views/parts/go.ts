// SPDX-License-Identifier: MIT
// Ways from one view to a place in another. A place lies within what is selected: where nothing of it does, the selection stays
// as it is.
import { effect } from "@preact/signals";
import { api } from "../../api/client";
import { statementText } from "../../api/statements";
import {
  binWidth,
  boundsOf,
  busiestRange,
  busyBins,
  onlyProcess,
  whereIn,
  withRoom,
  type Bounds,
  type BusyBin,
  type Place,
} from "../../logic/places";
import { inFile, recording } from "../../state/page";
import { searchText } from "../../state/search";
import { part, select, selection, type Selection } from "../../state/selection";

async function binsOf(place: Place, within: Bounds): Promise<BusyBin[]> {
  const { of = "events", where = "true" } = place;
  const rows = statementText(`rows_of_${of}`, { ...within, where: whereIn(of, where, part.peek()) });
  const values = { from: within.from, width: binWidth(within), rows, said: place.said ?? "" };
  const answer = await api.statement({ name: "busiest", values, recording: selection.peek().recording });
  return busyBins(answer.rows);
}

// To a view; in the timeline, to where the rows of the place took most time. A rule that speaks of one process selects it.
export async function goToPlace(place: Place): Promise<void> {
  const wall = recording.peek()?.wall_ns ?? 0;
  // A page without a server cannot look for events: it knows the places of rules, and of others it shows the view.
  const known = !inFile.peek() || place.said !== undefined;
  if (place.view !== "timeline" || place.where === undefined || wall === 0 || !known) {
    select({ view: place.view });
    return;
  }
  const within = boundsOf(part.peek(), wall);
  const bins = await binsOf(place, within);
  const range = busiestRange(bins, within);
  const process = place.said === undefined ? undefined : onlyProcess(bins);
  select({ view: "timeline", ...(range ? { from: range[0], to: range[1], ...process } : {}) });
}

// To the time in which a file was in use.
export async function goToFile(file: string): Promise<void> {
  const values = { file, where: whereIn("events", "true", part.peek()) };
  const { rows } = await api.statement({ name: "file_time", values, recording: selection.peek().recording });
  const within = boundsOf(part.peek(), recording.peek()?.wall_ns ?? 0);
  const [first = 0, last = 0] = (rows[0] ?? []).slice(1).map(Number);
  const [begin, end] = [Math.max(first, within.from), Math.min(last, within.to)];
  if (end > begin) goToRange(begin, end);
  else select({ view: "timeline" });
}

export function goToRange(begin: number, end: number, more: Partial<Selection> = {}): void {
  select({ view: "timeline", ...withRoom(begin, end, part.peek()), ...more });
}

// To where a function took most time. Its name stands in the search field, so that other boxes are faded, until somebody
// leaves the timeline.
export async function goToFunction(name: string, place: Place): Promise<void> {
  await goToPlace(place);
  searchText.value = name;
  const stop = effect(() => {
    if (selection.value.view === "timeline") return;
    if (searchText.peek() === name) searchText.value = "";
    queueMicrotask(() => stop());
  });
}

// To what a flame graph shows by another weight.
export function goToFlame(weight: string): void {
  select({ view: "flame", settings: { ...selection.peek().settings, "flame.weight": weight } });
}

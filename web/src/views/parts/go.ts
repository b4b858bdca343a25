// SPDX-License-Identifier: MIT
// Ways from one view to a place in another.
import { effect } from "@preact/signals";
import { api } from "../../api/client";
import { busiestRange, busiestSql, type Place } from "../../logic/places";
import { inFile, recording } from "../../state/page";
import { searchText } from "../../state/search";
import { select, selection } from "../../state/selection";

async function numbersOf(sql: string): Promise<number[][]> {
  const answer = await api.query(sql, selection.peek().recording || undefined);
  return answer.rows.map((row) => row.map(Number));
}

// To a view; in the timeline, to where the events of the place took most time.
export async function goToPlace(place: Place): Promise<void> {
  const wall = recording.peek()?.wall_ns ?? 0;
  // A page without a server cannot look for events: it shows the view.
  if (place.view !== "timeline" || place.where === undefined || wall === 0 || inFile.peek()) {
    select({ view: place.view });
    return;
  }
  const rows = await numbersOf(busiestSql(place.where, wall, place.of));
  const range = busiestRange(
    rows.map(([bin = 0, time = 0]) => ({ bin, time })),
    wall,
  );
  select({ view: "timeline", ...(range ? { from: range[0], to: range[1] } : {}) });
}

// To the time in which a file was in use. A hundredth is added at both ends, so that edges show.
export async function goToFile(file: string): Promise<void> {
  const { rows } = await api.statement({ name: "file_time", values: { file }, recording: selection.peek().recording });
  const [begin = 0, end = 0] = (rows[0] ?? []).slice(1).map(Number);
  if (end > begin) goToRange(begin, end);
  else select({ view: "timeline" });
}

export function goToRange(begin: number, end: number, more: { pids?: number[]; tids?: number[] } = {}): void {
  const room = Math.ceil((end - begin) / 100);
  select({ view: "timeline", from: Math.max(0, Math.floor(begin - room)), to: Math.ceil(end + room), ...more });
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

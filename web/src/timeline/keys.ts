// SPDX-License-Identifier: MIT
// Keys of the timeline, and what help says of the mouse (pointer.ts, names.tsx).
import type { KeyDef, MouseDef } from "../state/keys";
import type { Hit } from "./hit";
import type { TimelineModel } from "./model";
import { acrossOf, besideOf, firstOf } from "./step";

const step = 0.15; // of the screen
const scrolled = 60; // pixels

export const timelineMouse: readonly MouseDef[] = [
  { gesture: "Drag", help: "Move through time" },
  { gesture: "Shift and drag", help: "Select a range" },
  { gesture: "Alt and drag", help: "Measure" },
  { gesture: "Click", help: "Show the details of an event" },
  { gesture: "Double click", help: "Go to an event" },
  { gesture: "Ctrl and wheel", help: "Zoom" },
  { gesture: "Shift and wheel", help: "Move through time" },
  { gesture: "Click on a name", help: "Select the track" },
  { gesture: "Ctrl and click on names", help: "Select several tracks" },
];

export function timelineKeys(model: TimelineModel, scrollBy: (pixels: number) => void): KeyDef[] {
  const across = (by: 1 | -1): void => chooseAcross(model, by, () => scrollBy(by * scrolled));
  return [
    { keys: ["w"], help: "Zoom in", run: () => model.zoom(0.7, model.pointedAt()) },
    { keys: ["s"], help: "Zoom out", run: () => model.zoom(1 / 0.7, model.pointedAt()) },
    { keys: ["a", "ArrowLeft"], help: "Go to earlier times", run: () => model.pan(-step) },
    { keys: ["d", "ArrowRight"], help: "Go to later times", run: () => model.pan(step) },
    {
      keys: ["ArrowUp"],
      help: "Choose an event in the line above; scroll up if none is chosen",
      run: () => across(-1),
    },
    {
      keys: ["ArrowDown"],
      help: "Choose an event in the line below; scroll down if none is chosen",
      run: () => across(1),
    },
    { keys: ["f"], help: "Go to the selected range, or to the chosen event", run: () => model.showChosen() },
    { keys: ["e"], help: "Show the whole recording", run: () => model.showAll() },
    { keys: ["."], help: "Choose the next event of the line, or the first on screen", run: () => chooseNext(model, 1) },
    { keys: [","], help: "Choose the event before it", run: () => chooseNext(model, -1) },
    {
      keys: ["["],
      help: "Begin the selected range where the chosen event begins, or the screen",
      run: () => model.selectEdge("from"),
    },
    {
      keys: ["]"],
      help: "End the selected range where the chosen event ends, or the screen",
      run: () => model.selectEdge("to"),
    },
    { keys: ["m"], help: "Hold and drag to measure", run: () => (model.measuring.value = true) },
    { keys: ["Escape"], help: "Close details and measure", run: () => model.letGo() },
  ];
}

function chooseNext(model: TimelineModel, by: 1 | -1): void {
  const now = model.chosen.peek();
  const next = now ? besideOf(model.scene(), now, by) : firstOf(model.scene(), model.visible.peek());
  if (next) model.choose(next);
  else if (now) model.pan(by * 0.5);
}

// Lines that were never on screen have no events yet: they come when they are scrolled to.
function chooseAcross(model: TimelineModel, by: 1 | -1, scroll: () => void): void {
  const now: Hit | null = model.chosen.peek();
  const next = now ? acrossOf(model.scene(), now, by) : undefined;
  if (!next) return scroll();
  model.choose(next);
  model.scrollToTrack(next.track.id);
}

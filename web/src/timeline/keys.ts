// SPDX-License-Identifier: MIT
// Keys of the timeline.
import type { KeyDef } from "../state/keys";
import { hitsOf } from "./hit";
import type { TimelineModel } from "./model";

const step = 0.15; // of the screen

export function timelineKeys(model: TimelineModel, scrollBy: (pixels: number) => void): KeyDef[] {
  return [
    { keys: ["w"], help: "Zoom in", run: () => model.zoom(0.7, model.pointedAt()) },
    { keys: ["s"], help: "Zoom out", run: () => model.zoom(1 / 0.7, model.pointedAt()) },
    { keys: ["a", "ArrowLeft"], help: "Go to earlier times", run: () => model.pan(-step) },
    { keys: ["d", "ArrowRight"], help: "Go to later times", run: () => model.pan(step) },
    { keys: ["ArrowUp"], help: "Scroll up", run: () => scrollBy(-60) },
    { keys: ["ArrowDown"], help: "Scroll down", run: () => scrollBy(60) },
    { keys: ["f"], help: "Go to the selected range, or to the chosen event", run: () => model.showChosen() },
    { keys: ["e"], help: "Show the whole recording", run: () => model.showAll() },
    { keys: ["."], help: "Choose the next event of the track", run: () => chooseNext(model, 1) },
    { keys: [","], help: "Choose the event before it", run: () => chooseNext(model, -1) },
    { keys: ["m"], help: "Hold and drag to measure (or Alt and drag)", run: () => (model.measuring.value = true) },
    { keys: ["Escape"], help: "Close details and measure", run: () => model.letGo() },
  ];
}

// Without a chosen event it begins with the first box on screen.
function chooseNext(model: TimelineModel, by: 1 | -1): void {
  const scene = model.scene();
  const now = model.chosen.peek();
  const first = model.visible.peek().find((row) => row.lines > 0);
  const track = now?.track ?? first?.track;
  if (!track) return;
  const hits = hitsOf(scene, track, now?.depth ?? 0);
  const place = now ? hits.findIndex((hit) => hit.start === now.start) + by : 0;
  const next = hits[place];
  if (next) model.choose(next);
  else if (now) model.pan(by * 0.5);
}

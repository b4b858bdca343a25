// SPDX-License-Identifier: MIT
// What is under the pointer, in words.
import type { JSX } from "preact";
import { escapeName } from "../logic/escape";
import { counted, humanNs } from "../logic/units";
import type { TimelineModel } from "./model";

export function HoverCard({ model }: { model: TimelineModel }): JSX.Element | null {
  const hit = model.hovered.value;
  const pointer = model.pointer.value;
  if (!hit || !pointer) return null;
  const { x, y } = pointer;
  const { width, height } = model.size.value;
  const place = {
    left: x < width / 2 ? `${x + 14}px` : "auto",
    right: x < width / 2 ? "auto" : `${width - x + 14}px`,
    top: y < height / 2 ? `${y + 14}px` : "auto",
    bottom: y < height / 2 ? "auto" : `${height - y + 14}px`,
  };
  return (
    <div class="tl-card" style={place}>
      <strong>{escapeName(hit.name)}</strong> <span class="faint">{escapeName(hit.layer)}</span>
      <br />
      {hit.count > 1 ? (
        <>
          {counted(hit.count, "event")} drawn as one, {humanNs(hit.busy)} in all; most of it in this name. Zoom in to
          see them.
          <br />
        </>
      ) : (
        <>
          {humanNs(hit.dur)}
          <br />
        </>
      )}
      <span class="faint">
        at {humanNs(hit.start)} in {escapeName(hit.track.name)}
      </span>
    </div>
  );
}

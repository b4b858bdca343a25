// SPDX-License-Identifier: MIT
// The whole recording in a strip: a line for each track (or for some of them, where there are many), the selected range, and
// the part that is on screen, which can be dragged.
import { useComputed, type ReadonlySignal } from "@preact/signals";
import { useEffectAtOnce } from "../state/at_once";
import type { JSX, RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Asked } from "../api/asked";
import { api } from "../api/client";
import { isCounter, type TimelineWindow, type Track } from "../api/types";
import { oncePerFrame, placeIn, sharpContext } from "../draw/canvas";
import { CanvasPen, type Pen } from "../draw/pen";
import { recording } from "../state/page";
import { selection } from "../state/selection";
import { layerColour } from "../theme/layers";
import { palette, shade } from "../theme/theme";
import { spanOf } from "./camera";
import type { TimelineModel } from "./model";

export const minimapHeight = 44;
const bins = 512;
const mostLines = 42;

// Evenly out of all that have boxes.
export function chosenTracks(tracks: readonly Track[], most = mostLines): Track[] {
  const drawn = tracks.filter((track) => track.events > 0 && track.kind !== "counter" && track.kind !== "samples");
  if (drawn.length <= most) return drawn;
  return Array.from({ length: most }, (_none, at) => drawn[Math.floor((at * drawn.length) / most)]!);
}

function drawStrips(pen: Pen, answer: TimelineWindow, order: readonly Track[], width: number, wall: number): void {
  const height = minimapHeight / Math.max(order.length, 4);
  const lines = new Map(order.map((track, at) => [track.id, at * height]));
  for (const track of answer.tracks) {
    const y = lines.get(track.id);
    if (y === undefined || isCounter(track)) continue;
    for (let at = 0; at < track.start.length; ++at) {
      if (track.depth[at] !== 0) continue;
      const x = ((track.start[at]! + answer.from) / wall) * width;
      const fill = layerColour(answer.names[track.layer[at]!] ?? "", shade.value);
      pen.box(x, y, Math.max(1, (track.dur[at]! / wall) * width), Math.max(1, height - 0.5), fill);
    }
  }
}

function drawMinimap(
  pen: Pen,
  model: TimelineModel,
  answer: TimelineWindow | null,
  order: readonly Track[],
  width: number,
): void {
  const wall = model.wall.value;
  const colours = palette.value;
  pen.box(0, 0, width, minimapHeight, colours.raised);
  if (answer) drawStrips(pen, answer, order, width, wall);
  const { from, to } = selection.value;
  if (from !== null || to !== null) {
    const left = ((from ?? 0) / wall) * width;
    pen.box(left, 0, Math.max(1, ((to ?? wall) / wall) * width - left), minimapHeight, colours.chosen);
  }
  const camera = model.camera.value;
  const [left, right] = [(camera.from / wall) * width, (camera.to / wall) * width];
  const end = Math.max(right, left + 2);
  pen.line([left, 1, end, 1, end, minimapHeight - 1, left, minimapHeight - 1, left, 1], colours.accent, 2);
}

// What the lines show, asked for again when the recording has grown or another part of it is chosen.
function useStrips(model: TimelineModel, order: ReadonlySignal<Track[]>): Asked<TimelineWindow> {
  const strips = useMemo(() => new Asked<TimelineWindow>(), []);
  const askedOf = useRef("");
  useEffectAtOnce(() => {
    if (order.value.length === 0) return;
    const id = recording.peek()?.id ?? "";
    const of = model.of.value;
    const asked = JSON.stringify([id, of]);
    if (asked === askedOf.current) return strips.refresh(); // it has grown
    askedOf.current = asked;
    strips.ask((signal) => {
      const tracks = order.peek().map((each) => each.id);
      return api.timeline({ recording: id, ...of, from: 0, to: model.wall.peek(), width: bins, tracks }, signal);
    });
  });
  useEffect(() => () => strips.stop(), []);
  return strips;
}

// Draws once a frame at most, after any of the signals that the picture is made of.
function usePicture(
  canvas: RefObject<HTMLCanvasElement | null>,
  model: TimelineModel,
  order: ReadonlySignal<Track[]>,
  strips: Asked<TimelineWindow>,
): void {
  const draw = (): void => {
    const { width } = model.size.value;
    if (!canvas.current || width === 0) return;
    const pen = new CanvasPen(sharpContext(canvas.current, { width, height: minimapHeight }));
    drawMinimap(pen, model, strips.value, order.value, width);
  };
  const frame = useMemo(() => oncePerFrame(draw), []);
  useEffectAtOnce(() => {
    void [
      model.size.value,
      strips.value,
      order.value,
      model.camera.value,
      selection.value,
      shade.value,
      model.wall.value,
    ];
    frame.ask();
  });
  useEffect(() => () => frame.stop(), []);
}

export function Minimap({ model }: { model: TimelineModel }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const order = useComputed(() => chosenTracks(model.tracks.value?.tracks ?? []));
  const strips = useStrips(model, order);
  usePicture(canvas, model, order, strips);
  // A press or a drag moves the frame so that its middle is there.
  const go = (event: PointerEvent): void => {
    if (!(event.buttons & 1)) return;
    const element = event.currentTarget as HTMLElement;
    if (event.type === "pointerdown") element.setPointerCapture(event.pointerId);
    const middle = (placeIn(element, event).x / Math.max(1, model.size.peek().width)) * model.wall.peek();
    const half = spanOf(model.camera.peek()) / 2;
    model.move({ from: middle - half, to: middle + half });
  };
  const { width } = model.size.value;
  return (
    <canvas
      ref={canvas}
      class="tl-minimap"
      role="img"
      aria-label="The whole recording; the frame is what the timeline shows"
      style={{ width: `${width}px`, height: `${minimapHeight}px` }}
      onPointerDown={go}
      onPointerMove={go}
      onWheel={(event) => model.zoom(2 ** (event.deltaY / 200))}
    />
  );
}

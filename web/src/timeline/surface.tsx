// SPDX-License-Identifier: MIT
// The canvas with the tracks' boxes. It draws once a frame, whenever something that it shows has changed.
import { useEffectAtOnce } from "../state/at_once";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { oncePerFrame, sharpContext } from "../draw/canvas";
import { CanvasPen, font } from "../draw/pen";
import { TextFitter } from "../draw/text";
import { matcher, searchText } from "../state/search";
import { selection } from "../state/selection";
import { palette, shade } from "../theme/theme";
import { measuredFrame } from "./frames";
import type { Look } from "./lines";
import type { TimelineModel } from "./model";
import { drawPicture, type Picture } from "./picture";
import { Pointer } from "./pointer";

let ruler: TextFitter | null = null;

function fitter(): TextFitter {
  if (!ruler) {
    const context = document.createElement("canvas").getContext("2d")!;
    context.font = `11px ${font}`;
    ruler = new TextFitter(context);
  }
  return ruler;
}

// Everything that the picture shows; whoever calls it in an effect is called again when any of it changes.
export function pictureOf(model: TimelineModel): Picture {
  void model.arrived.value;
  const { from, to, layers } = selection.value;
  const look: Look = {
    camera: model.camera.value,
    width: model.size.value.width,
    shade: shade.value,
    back: palette.value.back,
    names: model.tiles.names.texts,
    fitter: fitter(),
    matches: matcher(searchText.value),
    layers,
    chosenRow: model.chosen.value?.row ?? -1,
    accent: palette.value.accent,
  };
  return {
    rows: model.rows.value,
    top: model.top.value,
    height: model.size.value.height,
    look,
    palette: palette.value,
    tiles: model.tiles,
    range: model.dragged.value ?? { from, to },
    measure: model.measure.value,
    arrows: model.showFlows.value ? (model.flows.value ?? []) : [],
  };
}

// The canvas and what is laid over it. It is as large as its place, not as all rows: scrolling moves the picture, so
// that ten thousand threads take the memory of a screen.
export function Surface({ model, pointer }: { model: TimelineModel; pointer: Pointer }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useMemo(() => oncePerFrame(() => draw(canvas.current, model)), []);
  useEffectAtOnce(() => {
    pictureOf(model);
    frame.ask();
  });
  useEffect(() => {
    // Not through the component: the page must be able to keep the browser from zooming itself.
    const wheel = (event: WheelEvent): void => pointer.wheel(event);
    canvas.current?.addEventListener("wheel", wheel, { passive: false });
    return () => frame.stop();
  }, []);
  const { width, height } = model.size.value;
  return (
    <canvas
      ref={canvas}
      class="tl-surface"
      style={{ width: `${width}px`, height: `${height}px` }}
      onPointerDown={(event) => pointer.down(event)}
      onPointerMove={(event) => pointer.move(event)}
      onPointerUp={(event) => pointer.up(event)}
      onPointerLeave={() => pointer.leave()}
      onDblClick={(event) => pointer.doubleClick(event)}
    />
  );
}

function draw(canvas: HTMLCanvasElement | null, model: TimelineModel): void {
  const { width, height } = model.size.peek();
  if (!canvas || width === 0 || height === 0) return;
  measuredFrame(() => drawPicture(new CanvasPen(sharpContext(canvas, { width, height })), pictureOf(model)));
}

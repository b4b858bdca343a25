// SPDX-License-Identifier: MIT
// The axis of time. Dragging on it selects a range.
import { useEffectAtOnce } from "../state/at_once";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { oncePerFrame, placeIn, sharpContext } from "../draw/canvas";
import { CanvasPen } from "../draw/pen";
import { palette } from "../theme/theme";
import { timeAt } from "./camera";
import type { TimelineModel } from "./model";
import { drawRuler, rulerHeight } from "./picture";

export function Ruler({ model }: { model: TimelineModel }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const begin = useRef<number | null>(null);
  const draw = (): void => {
    const { width } = model.size.peek();
    if (!canvas.current || width === 0) return;
    const context = sharpContext(canvas.current, { width, height: rulerHeight });
    drawRuler(new CanvasPen(context), model.camera.peek(), width, palette.peek());
  };
  const frame = useMemo(() => oncePerFrame(draw), []);
  useEffectAtOnce(() => {
    void [model.camera.value, model.size.value, palette.value];
    frame.ask();
  });
  useEffect(() => () => frame.stop(), []);
  const timeOf = (event: PointerEvent): number => {
    const { x } = placeIn(event.currentTarget as HTMLElement, event);
    return timeAt(model.camera.peek(), x, Math.max(1, model.size.peek().width));
  };
  const down = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    begin.current = timeOf(event);
  };
  const move = (event: PointerEvent): void => {
    if (begin.current === null) return;
    const now = timeOf(event);
    model.dragged.value = { from: Math.min(begin.current, now), to: Math.max(begin.current, now) };
  };
  const up = (): void => {
    const range = model.dragged.peek();
    if (range && begin.current !== null) model.selectRange(range);
    begin.current = null;
    model.dragged.value = null;
  };
  return (
    <canvas
      ref={canvas}
      class="tl-ruler"
      role="img"
      aria-label="Axis of time; drag on it to select a range"
      style={{ width: `${model.size.value.width}px`, height: `${rulerHeight}px` }}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onWheel={(event) =>
        model.zoom(
          2 ** (event.deltaY / 200),
          timeAt(model.camera.peek(), placeIn(event.currentTarget, event).x, Math.max(1, model.size.peek().width)),
        )
      }
    />
  );
}

// SPDX-License-Identifier: MIT
// A drawing as wide as its place: on a canvas to be seen, by the same pen in files. `label` says
// what it shows to those who do not see it; what can be pointed at can be reached by keys, too.
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { placeIn, sharpContext, useSize } from "../../draw/canvas";
import { CanvasPen, type Pen } from "../../draw/pen";
import { palette } from "../../theme/theme";
import { SaveBar } from "./save_bar";
import type { TableData } from "../../logic/table";

export interface Point {
  x: number;
  y: number;
}

export interface DrawnProps {
  title: string;
  label: string;
  height: number;
  draw: (pen: Pen, width: number) => void;
  table?: () => TableData; // what is drawn, as numbers
  onPoint?: (at: Point | null, width: number) => void;
  onPick?: (at: Point, width: number) => void;
  onKey?: (event: TargetedKeyboardEvent<HTMLCanvasElement>) => void;
  id?: string;
}

// The effect reads only signals, so a render that changes nothing of the picture draws nothing.
export function Drawn(props: DrawnProps): JSX.Element {
  const { title, label, height, draw, table, onPoint, onPick, onKey, id } = props;
  const [holder, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const wish = useSignal({ draw, height });
  if (wish.peek().draw !== draw || wish.peek().height !== height) wish.value = { draw, height };
  useSignalEffect(() => {
    const { width } = size.value;
    const wanted = wish.value;
    const back = palette.value.back;
    if (!canvas.current || width === 0) return;
    const pen = new CanvasPen(sharpContext(canvas.current, { width, height: wanted.height }));
    pen.box(0, 0, width, wanted.height, back);
    wanted.draw(pen, width);
  });
  const width = size.value.width;
  return (
    <figure class="drawn" id={id}>
      <figcaption>
        {title}
        <SaveBar
          name={title}
          picture={() => ({ width, height, draw: (pen) => draw(pen, width) })}
          {...(table ? { table } : {})}
        />
      </figcaption>
      <div ref={holder} class="holder" style={{ height: `${height}px` }}>
        <canvas
          ref={canvas}
          role={onKey ? "application" : "img"}
          aria-label={label}
          tabIndex={onKey || onPick ? 0 : undefined}
          style={{ width: `${width}px`, height: `${height}px` }}
          {...(onPoint && {
            onPointerMove: (event) => onPoint(placeIn(event.currentTarget, event), width),
            onPointerLeave: () => onPoint(null, width),
          })}
          {...(onPick && { onClick: (event) => onPick(placeIn(event.currentTarget, event), width) })}
          {...(onKey && { onKeyDown: onKey })}
        />
      </div>
    </figure>
  );
}

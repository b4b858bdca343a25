// SPDX-License-Identifier: MIT
// Paints the boxes of a flame graph with a pen.
import type { Pen } from "../../draw/pen";
import { font } from "../../draw/pen";
import { TextFitter } from "../../draw/text";
import { escapeName } from "../../logic/escape";
import type { Box } from "../../logic/flame_layout";
import type { FlameTree } from "../../logic/flame_tree";
import { inkOn } from "../../theme/layers";
import type { Palette } from "../../theme/theme";

export const ROW = 18;
const LEAST_TEXT = 26; // pixels

export interface Paint {
  tree: FlameTree;
  fill: (node: number) => string;
  matched: readonly boolean[] | undefined;
  focused: number;
  upwards: boolean; // callers above what they call
  levels: number;
}

let fitter: TextFitter | undefined;

function fitted(text: string, width: number): string {
  if (!fitter) {
    const ruler = document.createElement("canvas").getContext("2d")!;
    ruler.font = `12px ${font}`;
    fitter = new TextFitter(ruler);
  }
  return fitter.fit(text, width);
}

export function rowY(depth: number, paint: { upwards: boolean; levels: number }): number {
  return (paint.upwards ? paint.levels - 1 - depth : depth) * ROW;
}

function border(pen: Pen, box: Box, y: number, colour: string): void {
  const [right, bottom] = [box.x + box.width - 1, y + ROW - 2];
  pen.line([box.x + 1, y + 1, right, y + 1, right, bottom, box.x + 1, bottom, box.x + 1, y + 1], colour, 2);
}

export function paintFlame(pen: Pen, boxes: readonly Box[], paint: Paint, colours: Palette): void {
  for (const box of boxes) {
    const y = rowY(box.depth, paint);
    const faded = paint.matched && !paint.matched[box.node];
    const fill = faded ? colours.raised : paint.fill(box.node);
    pen.box(box.x, y, Math.max(box.width - (box.width > 3 ? 1 : 0), 0.5), ROW - 1, fill);
    if (box.width >= LEAST_TEXT) {
      const name = escapeName(paint.tree.names[paint.tree.nodes.name[box.node]!] ?? "");
      pen.text(fitted(name, box.width - 8), box.x + 4, y + ROW / 2, faded ? colours.faint : inkOn(fill));
    }
    if (box.node === paint.focused) border(pen, box, y, colours.text);
  }
}

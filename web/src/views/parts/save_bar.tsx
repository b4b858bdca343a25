// SPDX-License-Identifier: MIT
// Buttons that save what is seen.
import type { JSX } from "preact";
import { saveCsv, savePng, saveSvg } from "../../draw/save";
import { CanvasPen, SvgPen, type Pen } from "../../draw/pen";
import { sharpContext } from "../../draw/canvas";
import type { TableData } from "../../logic/table";
import { palette } from "../../theme/theme";

export interface Picture {
  width: number;
  height: number;
  draw: (pen: Pen) => void;
}

export function saveTable(name: string, table: TableData): void {
  saveCsv(
    `${name}.csv`,
    table.columns.map((column) => column.name),
    table.rows,
  );
}

function pngOf(picture: Picture): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  const pen = new CanvasPen(sharpContext(canvas, picture));
  pen.box(0, 0, picture.width, picture.height, palette.peek().back);
  picture.draw(pen);
  return canvas;
}

function svgOf(picture: Picture): string {
  const pen = new SvgPen();
  picture.draw(pen);
  return pen.document(picture.width, picture.height, palette.peek().back);
}

interface SaveBarProps {
  name: string; // of the file, without its ending
  picture?: () => Picture;
  table?: () => TableData;
}

export function SaveBar({ name, picture, table }: SaveBarProps): JSX.Element {
  return (
    <span class="save-bar" role="group" aria-label={`Save ${name}`}>
      {picture && (
        <button type="button" onClick={() => savePng(`${name}.png`, pngOf(picture()))}>
          PNG
        </button>
      )}
      {picture && (
        <button type="button" onClick={() => saveSvg(`${name}.svg`, svgOf(picture()))}>
          SVG
        </button>
      )}
      {table && (
        <button type="button" onClick={() => saveTable(name, table())}>
          CSV
        </button>
      )}
    </span>
  );
}

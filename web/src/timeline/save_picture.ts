// SPDX-License-Identifier: MIT
// Saves what is on screen: as PNG, as SVG, or its boxes as CSV. Names, ruler and picture stand together in a file.
import { savePng, saveCsv, saveSvg } from "../draw/save";
import { CanvasPen, SvgPen, type Pen } from "../draw/pen";
import { sharpContext } from "../draw/canvas";
import { escapeName } from "../logic/escape";
import { palette } from "../theme/theme";
import { allHits } from "./hit";
import type { TimelineModel } from "./model";
import { drawPicture, drawRuler, rulerHeight } from "./picture";
import { pictureOf } from "./surface";

const namesWidth = 220;

// A pen whose picture lies elsewhere on the sheet.
class MovedPen implements Pen {
  constructor(
    private readonly pen: Pen,
    private readonly dx: number,
    private readonly dy: number,
  ) {}
  box(x: number, y: number, width: number, height: number, fill: string): void {
    this.pen.box(x + this.dx, y + this.dy, width, height, fill);
  }
  text(text: string, x: number, y: number, fill: string, size?: number): void {
    this.pen.text(text, x + this.dx, y + this.dy, fill, size);
  }
  line(points: readonly number[], stroke: string, width?: number): void {
    this.pen.line(this.moved(points), stroke, width);
  }
  area(points: readonly number[], fill: string): void {
    this.pen.area(this.moved(points), fill);
  }
  private moved(points: readonly number[]): number[] {
    return points.map((value, at) => value + (at % 2 === 0 ? this.dx : this.dy));
  }
}

// What reaches over the picture's edges is painted over by the names, which come last.
function drawSheet(pen: Pen, model: TimelineModel): void {
  const picture = pictureOf(model);
  const { width, height } = model.size.peek();
  drawPicture(new MovedPen(pen, namesWidth, rulerHeight), picture);
  pen.box(0, 0, namesWidth, height + rulerHeight, palette.peek().back);
  for (const row of model.visible.peek()) {
    const text = picture.look.fitter.fit(escapeName(row.track.name), namesWidth - 12 - row.level * 10);
    pen.text(text, 6 + row.level * 10, row.y - picture.top + rulerHeight + 11, palette.peek().text, 11);
  }
  drawRuler(new MovedPen(pen, namesWidth, 0), picture.look.camera, width, palette.peek());
}

function sheetSize(model: TimelineModel): { width: number; height: number } {
  const { width, height } = model.size.peek();
  return { width: width + namesWidth, height: height + rulerHeight };
}

export function savePicturePng(model: TimelineModel): void {
  const canvas = document.createElement("canvas");
  drawSheet(new CanvasPen(sharpContext(canvas, sheetSize(model))), model);
  savePng("timeline.png", canvas);
}

export function pictureSvg(model: TimelineModel): string {
  const pen = new SvgPen();
  drawSheet(pen, model);
  const { width, height } = sheetSize(model);
  return pen.document(width, height, palette.peek().back);
}

export function savePictureSvg(model: TimelineModel): void {
  saveSvg("timeline.svg", pictureSvg(model));
}

export function savePictureCsv(model: TimelineModel): void {
  const columns = ["track", "host", "pid", "tid", "depth", "layer", "name", "start_ns", "dur_ns", "events"];
  const rows = allHits(model.scene(), model.visible.peek()).map((hit) => {
    const { name, host, pid, tid } = hit.track;
    return [name, host, pid, tid, hit.depth, hit.layer, hit.name, hit.start, hit.dur, hit.count];
  });
  saveCsv("timeline.csv", columns, rows);
}

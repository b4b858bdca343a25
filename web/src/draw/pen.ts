// SPDX-License-Identifier: MIT
// A picture is drawn with a Pen: on a canvas to be seen, or as SVG to be saved. One code for both, so that the file shows
// what the screen shows.

export interface Pen {
  box(x: number, y: number, width: number, height: number, fill: string): void;
  text(text: string, x: number, y: number, fill: string, size?: number): void; // y: the middle of the line
  line(points: readonly number[], stroke: string, width?: number): void; // x, y, x, y …
  area(points: readonly number[], fill: string): void;
}

export const font = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

// For the screen; coordinates are CSS pixels.
export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {
    context.textBaseline = "middle";
  }

  box(x: number, y: number, width: number, height: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  text(text: string, x: number, y: number, fill: string, size = 12): void {
    this.context.fillStyle = fill;
    this.context.font = `${size}px ${font}`;
    this.context.fillText(text, x, y);
  }

  line(points: readonly number[], stroke: string, width = 1): void {
    this.trace(points);
    this.context.strokeStyle = stroke;
    this.context.lineWidth = width;
    this.context.stroke();
  }

  area(points: readonly number[], fill: string): void {
    this.trace(points);
    this.context.closePath();
    this.context.fillStyle = fill;
    this.context.fill();
  }

  private trace(points: readonly number[]): void {
    this.context.beginPath();
    for (let at = 0; at + 1 < points.length; at += 2) this.context.lineTo(points[at]!, points[at + 1]!);
  }
}

// For files: the same strokes as text. Whatever a name holds becomes text of the picture, escaped.
export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  box(x: number, y: number, width: number, height: number, fill: string): void {
    const place = `x="${tidy(x)}" y="${tidy(y)}" width="${tidy(width)}" height="${tidy(height)}"`;
    this.parts.push(`<rect ${place} fill="${escaped(fill)}"/>`);
  }

  text(text: string, x: number, y: number, fill: string, size = 12): void {
    const place = `x="${tidy(x)}" y="${tidy(y)}" font-size="${tidy(size)}" dominant-baseline="central"`;
    this.parts.push(`<text ${place} fill="${escaped(fill)}">${escaped(text)}</text>`);
  }

  line(points: readonly number[], stroke: string, width = 1): void {
    const look = `fill="none" stroke="${escaped(stroke)}" stroke-width="${tidy(width)}"`;
    this.parts.push(`<polyline points="${pairs(points)}" ${look}/>`);
  }

  area(points: readonly number[], fill: string): void {
    this.parts.push(`<polygon points="${pairs(points)}" fill="${escaped(fill)}"/>`);
  }

  document(width: number, height: number, back: string): string {
    const size = `width="${tidy(width)}" height="${tidy(height)}" viewBox="0 0 ${tidy(width)} ${tidy(height)}"`;
    const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family='${font}'>`;
    const ground = `<rect width="100%" height="100%" fill="${escaped(back)}"/>`;
    return `${head}\n${ground}\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

function tidy(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function pairs(points: readonly number[]): string {
  return points.map(tidy).join(" ");
}

// XML allows few control characters; a stranger's name may hold any.
function escaped(text: string): string {
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  const marks: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return plain.replace(/[&<>"]/g, (mark) => marks[mark]!);
}

// SPDX-License-Identifier: MIT
// Saves what is seen: a canvas as PNG, a drawing as SVG, a table as CSV.
import { csvText, type Cell } from "../logic/csv";

export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function savePng(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((content) => {
    if (content) save(name, content);
  }, "image/png");
}

export function saveCsv(name: string, columns: readonly string[], rows: Iterable<readonly Cell[]>): void {
  save(name, new Blob([csvText(columns, rows)], { type: "text/csv" }));
}

export function saveSvg(name: string, svg: string): void {
  save(name, new Blob([svg], { type: "image/svg+xml" }));
}

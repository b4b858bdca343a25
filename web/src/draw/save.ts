// SPDX-License-Identifier: MIT
// Saves what is seen: a canvas as PNG, a drawing as SVG, a table as CSV.

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

export function saveCsv(name: string, columns: readonly string[], rows: readonly (readonly unknown[])[]): void {
  save(name, new Blob([csvOf(columns, rows)], { type: "text/csv" }));
}

export function saveSvg(name: string, svg: string): void {
  save(name, new Blob([svg], { type: "image/svg+xml" }));
}

// RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe: names come from strangers.
export function csvOf(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [columns, ...rows].map((row) => row.map(csvCell).join(",") + "\r\n").join("");
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  let text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

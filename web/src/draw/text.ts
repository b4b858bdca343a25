// SPDX-License-Identifier: MIT
// Text that fits into a box, without measuring the same word twice.

export interface Ruler {
  measureText(text: string): { width: number };
}

const ellipsis = "…";

// Measuring a text costs more than drawing it, and a frame has thousands: widths are remembered.
export class TextFitter {
  private readonly widths = new Map<string, number>();

  constructor(
    private readonly ruler: Ruler,
    private readonly mostKept = 20_000,
  ) {}

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size >= this.mostKept) this.widths.clear();
      width = this.ruler.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  // The text, cut to the width; "" where not even three characters fit.
  fit(text: string, width: number): string {
    if (this.width(text) <= width) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.width(text.slice(0, middle) + ellipsis) <= width) low = middle;
      else high = middle - 1;
    }
    return low < 3 ? "" : wholeCharacters(text, low) + ellipsis;
  }
}

// Never half of a surrogate pair.
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

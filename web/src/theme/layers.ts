// SPDX-License-Identifier: MIT
// The colour of a layer, the same in all views. The hues are Okabe and Ito's, which people with any kind of colour
// blindness tell apart; neighbouring layers of the stack never share one, and lightness differs where a hue returns.

export type Shade = "light" | "dark";

interface LayerColour {
  light: string; // fill on a light page
  dark: string; // fill on a dark page
}

const colours: Record<string, LayerColour> = {
  app: { light: "#f0b429", dark: "#d99a00" },
  python: { light: "#4f8fe0", dark: "#4a86d4" },
  stdio: { light: "#8bdcbf", dark: "#93dcc3" },
  posix: { light: "#1fa67a", dark: "#009e73" },
  heap: { light: "#c99bd0", dark: "#a678b0" },
  user: { light: "#f5d76e", dark: "#c9ab30" },
  syscall: { light: "#35558f", dark: "#a9b4ea" },
  sched: { light: "#858e9d", dark: "#727b8a" },
  vfs: { light: "#6fc3f2", dark: "#2b8fc4" },
  fs: { light: "#e08e57", dark: "#d5742f" },
  pagecache: { light: "#e8c39e", dark: "#b78b5c" },
  block: { light: "#d55e00", dark: "#d55e00" },
  net: { light: "#cc79a7", dark: "#c06a9a" },
  mpi: { light: "#9a7fd1", dark: "#8a6cc6" },
  hdf5: { light: "#6d7f2a", dark: "#566617" },
  cuda: { light: "#5fb34d", dark: "#4f9f40" },
  gpu: { light: "#cbdc5c", dark: "#bfd04f" },
  cpu: { light: "#e69f00", dark: "#c98a00" },
  resource: { light: "#8899aa", dark: "#778899" },
  wait: { light: "#d4d8de", dark: "#4a515e" },
};

const other: LayerColour = { light: "#a9b1bd", dark: "#68707d" };

export function layerColour(layer: string, shade: Shade): string {
  return (Object.hasOwn(colours, layer) ? colours[layer]! : other)[shade];
}

export const knownLayers: readonly string[] = Object.keys(colours);

// Black or white, whichever is easier to read on a fill (WCAG's relative luminance).
export function inkOn(fill: string): string {
  return luminance(fill) > 0.179 ? "#000000" : "#ffffff";
}

export function luminance(fill: string): number {
  const [red = 0, green = 0, blue = 0] = channels(fill).map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function channels(fill: string): [number, number, number] {
  const value = Number.parseInt(fill.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

// Colours of series that are no layers (columns of a chart, recordings compared), in order.
export const series: Record<Shade, readonly string[]> = {
  light: ["#0072b2", "#b84f00", "#007a58", "#a3447a", "#8a6200", "#2f7fae", "#5f5fa8", "#4f4f4f"],
  dark: ["#56b4e9", "#f28e3b", "#2fc79b", "#e39ac4", "#f0c24a", "#8ccdf0", "#a9a9e6", "#c4c4c4"],
};

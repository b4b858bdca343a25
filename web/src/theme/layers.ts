// SPDX-License-Identifier: MIT
// The colour of a layer, the same in all views. Which one it has comes with the page's facts, from the tables of layers:
// src/wire/sources.h and src/trace/rows/layers.h. The hues are Okabe and Ito's, which people with any kind of colour
// blindness tell apart; neighbouring layers of the stack never share one, and lightness differs where a hue returns.
import type { LayerColour } from "../api/types";

export type Shade = "light" | "dark";

type Fills = Record<Shade, string>;

const other: Fills = { light: "#a9b1bd", dark: "#68707d" };

// Samples of threads that ran on no CPU have no layer of their own.
const wait: [string, Fills] = ["wait", { light: "#d4d8de", dark: "#4a515e" }];

let colours: ReadonlyMap<string, Fills> = new Map([wait]);

export function setLayerColours(layers: readonly LayerColour[]): void {
  colours = new Map([...layers.map(({ name, light, dark }): [string, Fills] => [name, { light, dark }]), wait]);
}

export function layerColour(layer: string, shade: Shade): string {
  return (colours.get(layer) ?? other)[shade];
}

export function hasColour(layer: string): boolean {
  return colours.has(layer);
}

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

// SPDX-License-Identifier: MIT
// Colours that are computed: shades of a hue, differences, heat. All can be told apart by people who
// are blind to some colours: lightness changes along with the hue.

export type Rgb = readonly [number, number, number];

export function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function hexOf([red, green, blue]: Rgb): string {
  const digits = (part: number) => Math.round(part).toString(16).padStart(2, "0");
  return `#${digits(red)}${digits(green)}${digits(blue)}`;
}

export function mixed(from: Rgb, to: Rgb, part: number): Rgb {
  const at = (i: 0 | 1 | 2) => from[i] + (to[i] - from[i]) * part;
  return [at(0), at(1), at(2)];
}

// The same for the same text, spread over 0 to 1.
export function spread(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; ++at) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return ((hash >>> 8) & 0xffff) / 0x10000;
}

const LESS: Rgb = [33, 102, 172];
const MORE: Rgb = [178, 24, 43];

// From -1, blue, over 0 to 1, red. Blue and red differ for every kind of colour blindness.
export function changeColour(change: number, same: Rgb): string {
  const part = Math.min(Math.abs(change), 1);
  return hexOf(mixed(same, change < 0 ? LESS : MORE, part));
}

// Dark to light on a dark page, light to dark on a light one: purple, blue, green, yellow.
const HEAT: readonly Rgb[] = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

// On a light page the ramp ends before the lightest yellow, which would hardly be seen.
const LIGHTEST = 0.9;

// `shades` colours; the first is the ground, where nothing happened.
export function heatColours(shades: number, ground: Rgb, dark: boolean): Rgb[] {
  const colours: Rgb[] = [ground];
  for (let at = 1; at < shades; ++at) {
    const part = shades > 2 ? (at - 1) / (shades - 2) : 1;
    const place = (dark ? part : (1 - part) * LIGHTEST) * (HEAT.length - 1);
    const below = Math.min(Math.floor(place), HEAT.length - 2);
    colours.push(mixed(HEAT[below]!, HEAT[below + 1]!, place - below));
  }
  return colours;
}

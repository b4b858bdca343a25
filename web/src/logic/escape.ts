// SPDX-License-Identifier: MIT
// Names come from strangers. The page writes them as text nodes, so they cannot be markup; here they
// lose the power to steer the display (direction marks, invisible characters), as in
// src/base/escape.cc.

// Controls, separators, and Unicode's Default_Ignorable_Code_Point without variation selectors.
const STEERING: readonly (readonly [number, number])[] = [
  [0x0000, 0x001f],
  [0x007f, 0x009f],
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe00ff],
  [0xe01f0, 0xe0fff],
];

function steersDisplay(point: number): boolean {
  return STEERING.some(([first, last]) => point >= first && point <= last);
}

function escaped(point: number): string {
  if (point === 10) return "\\n";
  if (point === 9) return "\\t";
  if (point < 0x80) return `\\x${point.toString(16).padStart(2, "0")}`;
  return `\\u{${point.toString(16)}}`;
}

// Backslashes before what reads like one of our escapes, or becomes one, are doubled.
function doubled(text: string): string {
  return text.replace(/(\\+)([^\\]?(?:\{|[0-7][0-9a-fA-F])?)/gu, (_all, slashes: string, next: string) => {
    const like = /^(n|t|u\{|x[0-7][0-9a-fA-F])/.test(next);
    const steers = next !== "" && steersDisplay(next.codePointAt(0) ?? 0);
    return (like || steers ? slashes + slashes : slashes) + next;
  });
}

function replaceSteering(text: string, passes: (point: number) => boolean): string {
  let out = "";
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    out += steersDisplay(point) && !passes(point) ? escaped(point) : character;
  }
  return out;
}

const PLAIN = /^[\x20-\x5b\x5d-\x7e]*$/;

// A name or a value as one line; two that differ look different.
export function escapeName(text: string): string {
  return PLAIN.test(text) ? text : replaceSteering(doubled(text), () => false);
}

// A cell of CSV: line feeds and tabs stay, since quotes hold them.
export function escapeCell(text: string): string {
  return PLAIN.test(text) ? text : replaceSteering(text, (point) => point === 10 || point === 9);
}

// SPDX-License-Identifier: MIT
// Which part of time is on screen, and where a moment lies there. Pure arithmetic: a camera is replaced, never changed.

export interface Camera {
  from: number; // ns
  to: number;
}

export const leastSpan = 20; // ns on a screen

export function spanOf(camera: Camera): number {
  return camera.to - camera.from;
}

export function xOf(camera: Camera, time: number, width: number): number {
  return ((time - camera.from) / spanOf(camera)) * width;
}

export function timeAt(camera: Camera, x: number, width: number): number {
  return camera.from + (x / width) * spanOf(camera);
}

// Keeps the camera over the recording: never wider than it, never beside it.
export function clamped(camera: Camera, wall: number): Camera {
  const whole = Math.max(wall, leastSpan);
  const span = Math.min(Math.max(spanOf(camera), leastSpan), whole);
  const middle = (camera.from + camera.to) / 2;
  const from = Math.min(Math.max(middle - span / 2, 0), whole - span);
  return { from, to: from + span };
}

// By a share of what is on screen; positive is later.
export function panned(camera: Camera, share: number, wall: number): Camera {
  const by = share * spanOf(camera);
  return clamped({ from: camera.from + by, to: camera.to + by }, wall);
}

// By a factor (below 1: closer); the time `at` stays where it is on screen.
export function zoomed(camera: Camera, factor: number, at: number, wall: number): Camera {
  const whole = Math.max(wall, leastSpan);
  const span = Math.min(Math.max(spanOf(camera) * factor, leastSpan), whole);
  const share = (at - camera.from) / spanOf(camera);
  const from = Math.min(Math.max(at - share * span, 0), whole - span);
  return { from, to: from + span };
}

// A range with some room on both sides.
export function around(from: number, to: number, wall: number): Camera {
  const room = Math.max((to - from) * 0.15, leastSpan / 2);
  return clamped({ from: from - room, to: to + room }, wall);
}

// The range is somewhere on screen, and large enough to be seen there.
export function shows(camera: Camera, from: number, to: number): boolean {
  return from < camera.to && to > camera.from && to - from > spanOf(camera) / 200;
}

// Marks of an axis: round numbers, at least `apart` pixels from each other.
export function marks(camera: Camera, width: number, apart = 110): { step: number; times: number[] } {
  const least = (spanOf(camera) / Math.max(width, 1)) * apart;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((part) => part * power).find((size) => size >= least) ?? 10 * power);
  const times: number[] = [];
  for (let time = Math.ceil(camera.from / step) * step; time <= camera.to; time += step) times.push(time);
  return { step, times };
}

const units: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
];

// A moment of an axis whose marks lie `step` apart: so many digits that neighbours differ.
export function moment(time: number, step: number): string {
  const [unit, name] = units.find(([size]) => Math.max(Math.abs(time), step) >= size) ?? [1, "ns"];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(time / unit).toFixed(decimals)} ${name}`;
}

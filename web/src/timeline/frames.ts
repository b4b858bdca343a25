// SPDX-License-Identifier: MIT
// How long frames took to draw: marks of the browser's own clock, which tests and benchmarks read
// (performance.getEntriesByName("fathom.frame")).

const most = 2000;
let kept = 0;

export function measuredFrame(draw: () => void): void {
  const start = performance.now();
  draw();
  if (++kept > most) {
    performance.clearMeasures("fathom.frame");
    kept = 1;
  }
  performance.measure("fathom.frame", { start, end: performance.now() });
}

// SPDX-License-Identifier: MIT
// Long work in short parts: between them the browser draws and hears keys. Work is a generator that yields wherever it may
// be interrupted, every few hundred steps.

const partMs = 8; // half of a frame

// Hands over what the generator returns, unless `signal` ends the work before. What fits into one part comes at once.
export function inSlices<T>(
  work: Generator<void, T>,
  signal: AbortSignal,
  done: (result: T) => void,
  now: () => number = () => performance.now(),
): void {
  const begin = now();
  while (now() - begin < partMs) {
    if (signal.aborted) return;
    const step = work.next();
    if (step.done) return done(step.value);
  }
  setTimeout(() => inSlices(work, signal, done, now), 0);
}

// All of it now: where nobody waits for a frame.
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

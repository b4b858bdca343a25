// SPDX-License-Identifier: MIT
// Answers that need an index which is still being made: the server says 503, and the page asks again.
import { Refusal } from "../../api/transport";

const AGAIN_MS = 700;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(new DOMException("no longer wanted", "AbortError"));
    });
  });
}

export async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 503) throw error;
      await pause(AGAIN_MS, signal);
    }
  }
}

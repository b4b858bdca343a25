// SPDX-License-Identifier: MIT
// How smoothly a page moves: how far apart its frames come while keys are pressed, and which tasks block it.

const steps = 120;

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

// In the page: keeps how long each task took that blocked it, in `tasks`.
export function watchTasks() {
  globalThis.tasks = [];
  new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((each) => each.duration))).observe({
    type: "longtask",
  });
}

// In the page: moves by keys, one a frame, and notes when frames came.
async function move({ count, keys }) {
  const gaps = [];
  let before = await new Promise(requestAnimationFrame);
  for (let step = 0; step < count; ++step) {
    dispatchEvent(new KeyboardEvent("keydown", { key: keys[step % keys.length], bubbles: true }));
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - before);
    before = now;
  }
  return gaps;
}

// The time between frames while the keys of each round are pressed in turn. A round that only zooms in is short: it would
// soon be at a single call.
export async function gapsWhile(page, rounds) {
  const gaps = [];
  for (const keys of rounds) {
    gaps.push(...(await page.evaluate(move, { count: keys.join("") === "w" ? 12 : steps, keys })));
  }
  return gaps;
}

// The tasks of the page's main thread while `body` runs, in ms of CPU time: how long the page would be blocked on a machine that
// has nothing else to do. How long it was blocked on this one says more about the machine. `frames` are those of them in which
// the timeline was drawn.
export async function tasksWhile(browser, page, body) {
  await browser.startTracing(page, { categories: ["toplevel", "blink.user_timing", "devtools.timeline"] });
  await page.evaluate(() => performance.mark("fathom.watched"));
  await body();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const { pid, tid } = traceEvents.find((each) => each.name === "fathom.watched");
  const ofPage = traceEvents.filter((each) => each.pid === pid && each.tid === tid);
  const tasks = ofPage.filter((each) => each.name.endsWith("RunTask")).sort((a, b) => a.ts - b.ts);
  if (!tasks.some((each) => each.tdur > 0)) throw new Error("the trace has no CPU time of tasks");
  const begins = ofPage.filter((each) => each.name === "fathom.frame" && each.ph === "b").map((each) => each.ts);
  const cpuMs = (some) => some.map((each) => (each.tdur ?? 0) / 1000);
  return { tasks: cpuMs(tasks), frames: cpuMs(begins.map((ts) => taskAt(tasks, ts)).filter(Boolean)) };
}

function taskAt(tasks, ts) {
  const task = tasks.findLast((each) => each.ts <= ts);
  return task && ts <= task.ts + task.dur ? task : undefined;
}

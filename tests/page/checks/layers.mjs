// SPDX-License-Identifier: MIT
// Real recordings of each layer: what the timeline draws of them is what SQL says.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { recordings } from "../layer_recordings.mjs";
import { asked, colours, layerColours, openPage, savedBoxes, savedText, settled, Skipped, stretches } from "../kit.mjs";
import { realPage, sql } from "../real.mjs";

const surface = ".tl-surface";
const fills = layerColours();
const [lineHeight, sampleHeight] = [18, 14]; // of timeline/rows.ts
const tall = { width: 1200, height: 1600 }; // all tracks of a small recording

// One server and one page for all recordings of these names.
async function onLayers(browser, names, body) {
  const { path, address } = await realPage(() => names.map((name) => recordings[name][1]()));
  const page = await openPage(browser, address, { size: tall });
  try {
    await page.waitForSelector("header nav a");
    for (const [at, name] of names.entries()) await body(page, path[at], name);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

async function shown(page, name, at = "") {
  await page.evaluate((hash) => (location.hash = hash), `timeline?recording=${name}.fathom${at}`);
  await page.reload();
  await settled(page);
}

// What this machine could not record says why. Every other layer has to be there.
function recordedLayers(path, layers) {
  const states = sql(path, "SELECT layer, state, reason FROM layers");
  return layers.filter((layer) => {
    const { state, reason } = states.find((row) => row.layer === layer) ?? {};
    if (state === "on" || state === "partial") return true;
    assert.ok(reason, `${layer} is ${state} and says no reason`);
    console.log(`page: layers: ${layer} skipped: ${reason}`);
    return false;
  });
}

const sumOf = (boxes) => boxes.reduce((sum, box) => sum + Number(box.events), 0);
const isOfSums = (box) => box.track.endsWith(", summed");
const isSampled = (box) => box.layer === "cpu" || box.layer === "wait";

// Every event is in one box, and every call that was added up; a box of one event has its times.
function hasAllEvents(path, boxes) {
  const [{ events }] = sql(path, "SELECT count(*) AS events FROM events");
  const [{ calls }] = sql(path, "SELECT coalesce(sum(calls), 0)::BIGINT AS calls FROM intervals");
  const drawn = boxes.filter((box) => !isSampled(box));
  assert.equal(sumOf(drawn.filter((box) => !isOfSums(box))), events);
  assert.equal(sumOf(drawn.filter(isOfSums)), calls);
  const single = drawn.filter((box) => !isOfSums(box) && box.events === "1");
  const times = new Set(
    sql(path, "SELECT layer, name, ts, dur FROM events").map(({ layer, name, ts, dur }) =>
      [layer, name, ts, dur].join(),
    ),
  );
  for (const { layer, name, start_ns, dur_ns } of single)
    assert.ok(times.has([layer, name, start_ns, dur_ns].join()), `${layer} ${name} at ${start_ns}`);
}

// The calls of a layer that were added up, by name and interval. The last line is for all further names.
function hasAllIntervals(path, boxes, layer) {
  const rows = sql(
    path,
    `SELECT name, ts, width, sum(calls)::BIGINT AS calls FROM intervals WHERE layer = '${layer}' GROUP BY ALL`,
  );
  const wanted = new Set(rows.map(({ name, ts, width, calls }) => [name, ts, width, calls].join()));
  const seen = boxes.filter((box) => isOfSums(box) && box.layer === layer && Number(box.depth) < 7);
  for (const { name, start_ns, dur_ns, events } of seen)
    assert.ok(
      wanted.has([name, start_ns, dur_ns, events].join()),
      `${layer}: ${name} from ${start_ns}: ${events} calls`,
    );
}

// Where a level of a box's track lies on the canvas: its lowest pixels, below the letters.
async function lineOf(page, { track, layer, depth }) {
  const row = page.locator(".tl-name", { has: page.getByText(track, { exact: true }) }).last();
  const top = (await row.boundingBox()).y - (await page.locator(surface).boundingBox()).y;
  const height = layer === "cpu" || layer === "wait" ? sampleHeight : lineHeight;
  return top + (Number(depth) + 1) * height - 1;
}

// Where the colour of a box may begin and end on the screen. Small neighbours that touch it are one stretch with it, wide ones
// have a gap between them: both ends of each box that it is in touch with may be one.
function endsWithNeighbours(boxes, box, pixelOf) {
  const isBeside = (each) => ["track", "layer", "depth"].every((key) => each[key] === box[key]);
  const reachOf = ({ start_ns, dur_ns }) => [pixelOf(Number(start_ns)), pixelOf(Number(start_ns) + Number(dur_ns))];
  const touches = ([a, b], [c, d]) => Math.max(a, c) - Math.min(b, d) < 3;
  const chain = [reachOf(box)];
  const others = new Set(boxes.filter((each) => each !== box && isBeside(each)).map(reachOf));
  for (const reach of chain) {
    for (const other of others) {
      if (!touches(reach, other)) continue;
      others.delete(other);
      chain.push(other); // whose neighbours are looked for, too
    }
  }
  return { lefts: chain.map(([left]) => left), rights: chain.map(([, right]) => right) };
}

// Seen from half its length before it: what is drawn of it fills the middle half of the picture, in its layer's colour.
// What has no length is a line there.
async function isWideAndOfItsColour(page, name, { layer, name: called, start, dur }) {
  const { wall_ns: wall } = (await asked(page, "/page")).recordings.find((each) => each.id === `${name}.fathom`);
  const from = Math.max(0, Math.round(start - (dur > 0 ? dur / 2 : 500)));
  const span = Math.min(dur > 0 ? 2 * dur : 1000, wall - from);
  const what = `${called} of ${layer} at ${start}`;
  await shown(page, name, `&timeline.at=${from}-${from + span}`);
  const boxes = await savedBoxes(page);
  const box = boxes.find((each) => each.layer === layer && each.name === called && Number(each.start_ns) === start);
  assert.ok(box, what);
  assert.equal(Number(box.dur_ns), dur, what);
  const { width } = await page.locator(surface).boundingBox();
  const pixelOf = (time) => Math.min(1, Math.max(0, (time - from) / span)) * width;
  const [left, right] = [pixelOf(start), pixelOf(start + dur)];
  const { lefts, rights } = endsWithNeighbours(boxes, box, pixelOf);
  const isNear = (ends, at) => ends.some((end) => Math.abs(end - at) < 4);
  const found = await stretches(page, surface, await lineOf(page, box), fills[layer]);
  const covers = ([a, b]) =>
    a < left + 4 && b > right - 4 && isNear(lefts, a) && (dur > 0 ? isNear(rights, b) : b - a < 6 || rights.length > 1);
  assert.ok(found.some(covers), `${what} reaches from ${left} to ${right}: ${found}`);
}

// The longest of a layer; where its calls were only added up, a box of them.
function longestOf(path, boxes, layer) {
  const [event] = sql(
    path,
    `SELECT layer, name, ts AS start, dur FROM events WHERE layer = '${layer}' AND coalesce(depth, 0) < 5
     ORDER BY dur DESC, ts LIMIT 1`,
  );
  if (event) return event;
  const { name, start_ns, dur_ns } = boxes.find((each) => each.layer === layer);
  return { layer, name, start: Number(start_ns), dur: Number(dur_ns) };
}

async function checkRecording(page, path, name) {
  const [layers] = recordings[name];
  const here = recordedLayers(path, layers);
  if (here.length === 0) return;
  await shown(page, name);
  const boxes = await savedBoxes(page);
  hasAllEvents(path, boxes);
  for (const layer of here) {
    hasAllIntervals(path, boxes, layer);
    await isWideAndOfItsColour(page, name, longestOf(path, boxes, layer));
  }
}

export async function checkLayersInsideOfPrograms(browser) {
  await onLayers(browser, ["inside", "python", "heap"], checkRecording);
}

export async function checkLayersOfTheKernelAndOfDevices(browser) {
  await onLayers(browser, ["kernel", "user", "gpu"], checkRecording);
}

// At each sample's time there is a box of each of its functions; each stretch off the CPU is one box.
export async function checkSamplesAndWaits(browser) {
  await onLayers(browser, ["cpu"], async (page, path, name) => {
    if (recordedLayers(path, ["cpu"]).length === 0) throw new Skipped("layer cpu cannot be recorded here");
    await shown(page, name);
    const boxes = await savedBoxes(page);
    const levels = sql(
      path,
      "SELECT tid, ts, function, depth FROM samples JOIN frames USING (stack) WHERE event = 'cpu-clock' ORDER BY ts",
    );
    assert.ok(levels.length > 10);
    const sampled = boxes.filter((box) => box.layer === "cpu");
    for (const { tid, ts, function: called, depth } of levels) {
      const holds = ({ start_ns, dur_ns }) => Number(start_ns) <= ts && ts < Number(start_ns) + Number(dur_ns);
      const box = sampled.find((each) => each.tid === `${tid}` && each.depth === `${depth}` && holds(each));
      assert.ok(box, `${called} at ${ts}, level ${depth}`);
      if (box.events === "1") assert.equal(box.name, called, `at ${ts}, level ${depth}`);
    }
    const waits = sql(path, "SELECT ts, weight FROM samples WHERE event = 'off-cpu'");
    const waited = boxes.filter((box) => box.layer === "wait");
    assert.equal(sumOf(waited), waits.length);
    const times = new Set(waits.map(({ ts, weight }) => `${ts} ${weight}`));
    for (const { start_ns, dur_ns } of waited.filter(({ events }) => events === "1"))
      assert.ok(times.has(`${start_ns} ${dur_ns}`), `${start_ns} ${dur_ns}`);
    const [longest] = waits.sort((a, b) => b.weight - a.weight);
    assert.ok(longest.weight > 9e7, "it sleeps for a tenth of a second");
    const box = waited.find(({ start_ns }) => Number(start_ns) === longest.ts);
    await isWideAndOfItsColour(page, name, { ...box, start: longest.ts, dur: longest.weight });
  });
}

// Who asked for work, and when and where it was done: both have its number.
const launches = `
  SELECT asked, tid, begun FROM (
    SELECT pid, correlation, min(ts) AS asked, arg_min(tid, ts) AS tid FROM events WHERE tid IS NOT NULL GROUP BY ALL) JOIN (
    SELECT pid, correlation, ts AS begun FROM events WHERE tid IS NULL) USING (pid, correlation) ORDER BY begun, asked`;

// The arrows of the saved picture, whose names and ruler stand left of and above what is on screen; those with an end there.
async function arrowsOf(page) {
  const [left, top] = [220, 24];
  const { width } = await page.locator(surface).boundingBox();
  await page.getByText("Save", { exact: true }).click();
  const svg = await savedText(page, page.locator(".menu-items"), "Picture (SVG)");
  await page.getByText("Save", { exact: true }).click();
  const lines = svg.matchAll(/<polyline points="([^"]*)" fill="none" stroke="#0b62b8" stroke-width="1"/g);
  const arrows = [...lines].map(([, text]) => {
    const points = text.split(" ").map(Number);
    const [x0, y0, x1, y1] = [...points.slice(0, 2), ...points.slice(-2)];
    return { x0: x0 - left, y0: y0 - top, x1: x1 - left, y1: y1 - top };
  });
  return arrows.filter(({ x0, x1 }) => [x0, x1].some((x) => x >= 0 && x < width));
}

// Once all of them are there.
async function withArrows(page, count) {
  await page.getByRole("button", { name: "Flows" }).click();
  let arrows = [];
  for (let tries = 0; tries < 100 && arrows.length !== count; ++tries) arrows = await arrowsOf(page);
  assert.equal(arrows.length, count);
  return arrows;
}

async function middleOf(page, track) {
  const row = page.locator(".tl-name", { has: page.getByText(track, { exact: true }) }).last();
  const { y, height } = await row.boundingBox();
  return y - (await page.locator(surface).boundingBox()).y + Math.min(height, lineHeight) / 2;
}

// From the line of who asked to that of the work, with its head on the screen.
async function arrowIsBetweenLines(page, name, { width, wall }, { asked: begin, tid, begun }, all) {
  const span = Math.max(begun - begin, 100);
  const [from, to] = [Math.max(0, begin - span), Math.min(begun + span, wall)];
  await shown(page, name, `&timeline.at=${from}-${to}`);
  const there = all.filter((each) => [each.asked, each.begun].some((time) => time >= from && time < to));
  const isNear = (x, time) => Math.abs(x - ((time - from) / (to - from)) * width) < 0.1;
  const arrow = (await withArrows(page, there.length)).find(({ x0, x1 }) => isNear(x0, begin) && isNear(x1, begun));
  assert.ok(arrow, `from ${begin} to ${begun}`);
  const boxes = await savedBoxes(page);
  const work = boxes.find((box) => box.layer === "gpu" && Number(box.start_ns) === begun);
  const caller = boxes.find((box) => box.layer === "cuda" && box.tid === `${tid}`);
  assert.equal(arrow.y0, await middleOf(page, caller.track));
  assert.equal(arrow.y1, await middleOf(page, work.track));
  const [head] = await colours(page, surface, [[arrow.x1 - 4, arrow.y1]]);
  assert.equal(head, "#0b62b8");
}

export async function checkArrowsLeadToTheWorkOfLaunches(browser) {
  await onLayers(browser, ["gpu"], async (page, path, name) => {
    const wanted = sql(path, launches);
    assert.ok(wanted.length > 5, `${wanted.length} launches`);
    await shown(page, name);
    const [{ wall_ns: wall }] = (await asked(page, "/page")).recordings;
    const { width } = await page.locator(surface).boundingBox();
    const seen = (await withArrows(page, wanted.length)).sort((a, b) => a.x1 - b.x1 || a.x0 - b.x0);
    for (const [at, { asked: begin, begun }] of wanted.entries()) {
      const { x0, x1 } = seen[at];
      const off = [x0 - (begin / wall) * width, x1 - (begun / wall) * width];
      assert.ok(
        off.every((pixels) => Math.abs(pixels) < 0.1),
        `from ${begin} to ${begun}: off by ${off}`,
      );
    }
    for (const launch of [wanted[0], wanted.at(-1)])
      await arrowIsBetweenLines(page, name, { width, wall }, launch, wanted);
  });
}

// The line of a counter in the saved picture goes through its values.
export async function checkACounterGoesThroughItsValues(browser) {
  await onLayers(browser, ["inside"], async (page, path, name) => {
    await shown(page, name);
    await page.getByText("Save", { exact: true }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Picture (SVG)" }).click(),
    ]);
    const svg = await readFile(await saved.path(), "utf8");
    const lines = [...svg.matchAll(/<polyline points="([^"]*)"[^>]*stroke="(#\w+)"/g)];
    const points = lines
      .find(([, , colour]) => colour === fills.app)[1]
      .split(" ")
      .map(Number);
    const values = sql(path, "SELECT ts, value FROM counters WHERE name = 'level' ORDER BY ts");
    assert.deepEqual(
      values.map(({ value }) => value),
      [0, 10, 20],
    );
    assert.equal(points.length, 6);
    const [x0, y0, x1, y1, x2, y2] = points;
    const [t0, t1, t2] = values.map(({ ts }) => ts);
    assert.ok(Math.abs((x1 - x0) / (x2 - x0) - (t1 - t0) / (t2 - t0)) < 0.01, svg.length);
    assert.ok(Math.abs(y0 - y1 - 14) < 0.2 && Math.abs(y0 - y2 - 28) < 0.2, "as high as its highest value");
    assert.ok(svg.includes(">20<"), "which stands beside it");
  });
}

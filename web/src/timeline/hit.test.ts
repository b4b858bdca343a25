// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LayerColour, TimelineWindow, Track } from "../api/types";
import { SvgPen } from "../draw/pen";
import { TextFitter } from "../draw/text";
import { layerColour, setLayerColours } from "../theme/layers";
import { drawBoxes, type Look } from "./lines";
import { allHits, hitAt, rowAt, type Scene } from "./hit";
import { pointsOf, scaleOf } from "./counters";
import { rowsOf } from "./rows";
import { contentsOf, TileStore } from "./tiles";

const thread: Track = {
  id: 1,
  parent: null,
  kind: "thread",
  name: "t",
  host: "a",
  pid: 1,
  tid: 1,
  rank: null,
  from: 0,
  to: 1024,
  events: 4,
  depth: 2,
};

function scene(): Scene {
  const tiles = new TileStore();
  const answer: TimelineWindow = {
    from: 0,
    to: 1024,
    names: ["step", "read", "app", "posix"],
    tracks: [
      {
        id: 1,
        depth: [0, 1, 1, 1],
        start: [100, 100, 101, 500],
        dur: [800, 1, 1, 200],
        name: [0, 1, 1, 1],
        layer: [2, 3, 3, 3],
        count: [1, 1, 1, 7],
        row: [0, 1, 2, -1],
      },
    ],
  };
  for (const [id, content] of contentsOf(answer, [1], tiles.names)) tiles.put(id, { level: 0, index: 0 }, content);
  const rows = rowsOf([thread], { collapsed: new Set(), opened: new Set(), pinned: [], hosts: [], pids: [], tids: [] });
  return { rows, tiles, camera: { from: 0, to: 1024 }, width: 1024 };
}

test("the box under a place is found, and the nearest of narrow ones", () => {
  const here = scene();
  assert.equal(hitAt(here, 300, 8)?.name, "step");
  assert.equal(hitAt(here, 600, 26)?.count, 7);
  assert.equal(hitAt(here, 99, 26)?.row, 1);
  assert.equal(hitAt(here, 104, 26)?.row, 2);
  assert.equal(hitAt(here, 300, 26), null, "a gap");
  assert.equal(hitAt(here, 300, 500), null, "below all rows");
  assert.equal(rowAt(here.rows, 500), null);
});

test("all boxes on screen are there for a table", () => {
  const here = scene();
  const hits = allHits(here, here.rows);
  assert.equal(hits.length, 4);
  assert.equal(
    hits.reduce((sum, hit) => sum + hit.count, 0),
    10,
  );
});

function look(here: Scene, more: Partial<Look> = {}): Look {
  const fitter = new TextFitter({ measureText: (text) => ({ width: text.length * 6 }) });
  const plain: Look = {
    camera: here.camera,
    width: here.width,
    shade: "light",
    back: "#ffffff",
    names: here.tiles.names.texts,
    fitter,
    matches: null,
    layers: [],
    chosenRow: -1,
    accent: "#000000",
  };
  return { ...plain, ...more };
}

setLayerColours(JSON.parse(process.env["FATHOM_LAYER_COLOURS"] ?? "[]") as LayerColour[]);

test("boxes have the colour of their layer and their place; narrow neighbours are one rectangle", () => {
  const here = scene();
  const pen = new SvgPen();
  drawBoxes(pen, here.tiles.best(1, here.camera, 0), { top: 0, count: 2, height: 18 }, look(here));
  const svg = pen.document(1024, 40, "#ffffff");
  assert.match(
    svg,
    new RegExp(`<rect x="100" y="0" width="799.5" height="17" fill="${layerColour("app", "light")}"/>`),
  );
  assert.match(svg, new RegExp(`<rect x="100" y="18" width="2" height="17" fill="${layerColour("posix", "light")}"/>`));
  assert.equal(svg.match(/<rect/g)?.length, 4); // the ground and three boxes
  assert.match(svg, /read … ×7/);
});

test("what does not match a search, or is of another layer, fades", () => {
  const here = scene();
  const rest = (more: Partial<Look>): string => {
    const pen = new SvgPen();
    drawBoxes(pen, here.tiles.best(1, here.camera, 0), { top: 0, count: 1, height: 18 }, look(here, more));
    return pen.document(1, 1, "#ffffff");
  };
  assert.ok(rest({ matches: (name) => name === "step" }).includes(layerColour("app", "light")));
  assert.ok(!rest({ matches: (name) => name === "read" }).includes(layerColour("app", "light")));
  assert.ok(!rest({ layers: ["posix"] }).includes(layerColour("app", "light")));
});

test("a counter's points come once each, over a scale that begins at zero", () => {
  const line = {
    t: Float64Array.of(0, 10, 20),
    min: Float64Array.of(1, 2, 3),
    max: Float64Array.of(4, 5, 6),
    avg: Float64Array.of(2, 3, 4),
  };
  const segments = [
    { from: 0, to: 15, content: { kind: "line", line } as const },
    { from: 15, to: 30, content: { kind: "line", line } as const },
  ];
  const points = pointsOf(segments);
  assert.deepEqual(
    points.map((point) => point.t),
    [0, 10, 20],
  );
  assert.deepEqual(scaleOf(points), { low: 0, high: 6 });
  assert.deepEqual(scaleOf([]), { low: 0, high: 1 });
});

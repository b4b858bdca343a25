// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LayerColour } from "../api/types";
import { hasColour, inkOn, layerColour, luminance, series, setLayerColours, type Shade } from "./layers";
import { distance, sights } from "./sights";

const table = JSON.parse(process.env["FATHOM_LAYER_COLOURS"] ?? "[]") as LayerColour[];
setLayerColours(table);
const stacked = table.map(({ name }) => name); // top down
const knownLayers = [...stacked, "wait"];
const shades: Shade[] = ["light", "dark"];
const grounds = { light: "#ffffff", dark: "#14171c" };

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test("names on boxes can be read", () => {
  for (const shade of shades) {
    for (const layer of [...knownLayers, "a layer of tomorrow", "constructor"]) {
      const fill = layerColour(layer, shade);
      assert.match(fill, /^#[0-9a-f]{6}$/);
      assert.ok(contrast(fill, inkOn(fill)) >= 4.5, `${layer} on ${shade}: ${contrast(fill, inkOn(fill))}`);
    }
  }
});

test("colours are of the layers that the page was told of", () => {
  assert.ok(stacked.length > 10);
  assert.ok(knownLayers.every(hasColour));
  setLayerColours([...table, { name: "of tomorrow", light: "#2f6f8f", dark: "#7fb8c9" }]);
  assert.equal(layerColour("of tomorrow", "dark"), "#7fb8c9");
  setLayerColours(table);
  assert.ok(!hasColour("of tomorrow"));
  assert.equal(layerColour("of tomorrow", "dark"), layerColour("another", "dark"));
});

test("no two layers look the same", () => {
  for (const shade of shades) {
    const fills = knownLayers.map((layer) => layerColour(layer, shade));
    assert.equal(new Set(fills).size, fills.length);
  }
});

test("lines of charts stand out from the page", () => {
  for (const shade of shades) {
    for (const colour of series[shade]) assert.ok(contrast(colour, grounds[shade]) >= 3, `${colour} on ${shade}`);
  }
});

test("layers that stand beside or inside each other are told apart by everybody", () => {
  const stack = stacked.map((layer, at) => [layer, stacked[at + 1] ?? "wait"]);
  const nested = ["app python", "app posix", "app stdio", "app cuda", "python posix", "python stdio", "python cuda"];
  const others = ["stdio posix", "posix syscall", "posix heap", "syscall vfs", "cuda gpu", "cpu wait", "sched wait"];
  const pairs = [...stack, ...[...nested, ...others].map((pair) => pair.split(" "))] as [string, string][];
  for (const shade of shades) {
    for (const [name, sight] of Object.entries(sights)) {
      for (const [one, other] of pairs) {
        const apart = distance(layerColour(one, shade), layerColour(other, shade), sight);
        assert.ok(apart >= 12, `${one} and ${other}, ${shade}, ${name}: ${apart.toFixed(1)}`);
      }
    }
  }
});

// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { channels, inkOn, knownLayers, layerColour, luminance, series, type Shade } from "./layers";

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

// Colours as people see them who lack a kind of cone (Machado, Oliveira, Fernandes 2009, full severity), on linear RGB.
const sights: Record<string, number[][]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function product(matrix: readonly number[][], vector: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, value, at) => sum + value * vector[at]!, 0));
}

// CIELAB, in which distances are about as large as differences seem.
function lab(fill: string, sight: readonly number[][]): number[] {
  const linear = channels(fill).map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  const seen = product(sight, linear).map((value) => Math.min(1, Math.max(0, value)));
  const xyz = product(
    [
      [0.4339, 0.3762, 0.1899],
      [0.2126, 0.7152, 0.0722],
      [0.0177, 0.1095, 0.8728],
    ],
    seen,
  );
  const [x, y, z] = xyz.map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116)) as [
    number,
    number,
    number,
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("layers that stand beside or inside each other are told apart by everybody", () => {
  const stack = knownLayers.filter((layer) => layer !== "wait").map((layer, at, all) => [layer, all[at + 1] ?? "wait"]);
  const nested = ["app python", "app posix", "app stdio", "app cuda", "python posix", "python stdio", "python cuda"];
  const others = ["stdio posix", "posix syscall", "posix heap", "syscall vfs", "cuda gpu", "cpu wait", "sched wait"];
  const pairs = [...stack, ...[...nested, ...others].map((pair) => pair.split(" "))] as [string, string][];
  for (const shade of shades) {
    for (const [name, sight] of Object.entries(sights)) {
      for (const [one, other] of pairs) {
        const [a, b] = [lab(layerColour(one, shade), sight), lab(layerColour(other, shade), sight)];
        const distance = Math.hypot(...a.map((value, at) => value - b[at]!));
        assert.ok(distance >= 12, `${one} and ${other}, ${shade}, ${name}: ${distance.toFixed(1)}`);
      }
    }
  }
});

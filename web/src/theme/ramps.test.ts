// SPDX-License-Identifier: MIT
// Heat maps and comparisons tell by colour alone: everybody has to see the order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeColour, heatColours, hexOf, rgbOf } from "../logic/colours";
import { distance, lab, sights } from "./sights";

const pages = { light: { raised: "#f4f6f8", line: "#d5dae1" }, dark: { raised: "#1e232b", line: "#363d49" } };

test("more heat is darker on a light page and lighter on a dark one, for everybody", () => {
  for (const [page, { raised }] of Object.entries(pages)) {
    const ramp = heatColours(9, rgbOf(raised), page === "dark").map(hexOf);
    for (const [name, sight] of Object.entries(sights)) {
      const [ground, ...heat] = ramp.map((colour) => lab(colour, sight)[0]!) as [number, ...number[]];
      for (let at = 1; at < heat.length; ++at) {
        const step = page === "dark" ? heat[at]! - heat[at - 1]! : heat[at - 1]! - heat[at]!;
        assert.ok(step > 2, `${page}, ${name}: shade ${at + 1} of ${heat.length} differs by ${step.toFixed(1)}`);
      }
      assert.ok(distance(ramp[0]!, ramp[1]!, sight) >= 12, `${page}, ${name}: little is not nothing (${ground})`);
    }
  }
});

test("less, the same and more are told apart by everybody", () => {
  for (const [page, { line }] of Object.entries(pages)) {
    const steps = [-1, -0.5, 0, 0.5, 1];
    const colours = steps.map((change) => changeColour(change, rgbOf(line)));
    for (const [name, sight] of Object.entries(sights)) {
      for (const [at, one] of colours.entries()) {
        for (const [other, two] of colours.entries()) {
          if (other <= at) continue;
          const apart = distance(one, two, sight);
          assert.ok(apart >= 8, `${page}, ${name}: ${steps[at]} and ${steps[other]} differ by ${apart.toFixed(1)}`);
        }
      }
    }
  }
});

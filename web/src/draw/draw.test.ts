// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { SvgPen } from "./pen";
import { TextFitter } from "./text";

test("text is cut to its box, and left out where it would say nothing", () => {
  const fitter = new TextFitter({ measureText: (text) => ({ width: text.length * 10 }) });
  assert.equal(fitter.fit("read", 40), "read");
  assert.equal(fitter.fit("read_some_more", 60), "read_…");
  assert.equal(fitter.fit("read_some_more", 25), "");
  assert.equal(fitter.fit("ab😀😀😀", 60), "ab😀…", "no half of a character");
});

test("a stranger's name stays text in SVG", () => {
  const pen = new SvgPen();
  pen.text(`</text><script>"&'\u0000`, 0, 0, "#000");
  const svg = pen.document(10, 10, "#fff");
  assert.match(svg, /&lt;\/text&gt;&lt;script&gt;&quot;&amp;'\ufffd<\/text>/);
  assert.ok(!svg.includes("<script"));
});

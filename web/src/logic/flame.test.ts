// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, diffTrees, meanTree } from "./flame_diff";
import { whyEmpty } from "./flame_empty";
import { boxAt, boxesIn, frameOf, leftHeavy, neighbour, timeOrder } from "./flame_layout";
import { nodeOfPath, pathOf } from "./flame_path";
import { findMatches } from "./flame_search";
import { atOnce } from "./slices";
import { calleesOf, callersOf, functionSums, inverted, outermost, type FlameTree } from "./flame_tree";

type Row = [parent: number, name: string, self: number, total: number, start?: number];

function treeOf(rows: Row[]): FlameTree {
  const names = ["app", ...new Set(rows.map(([, name]) => name))];
  const nodes = {
    parent: rows.map(([parent]) => parent),
    name: rows.map(([, name]) => names.indexOf(name)),
    layer: rows.map(() => 0),
    self: rows.map(([, , self]) => self),
    total: rows.map(([, , , total]) => total),
    calls: rows.map(() => 1),
    start: rows.map(([, , , , start]) => start ?? 0),
  };
  const total = rows.reduce((sum, [parent, , , weight]) => sum + (parent < 0 ? weight : 0), 0);
  return { weight: "time", unit: "ns", total, names, nodes };
}

// main calls a (which calls itself and c) and b (which calls c).
const TREE = treeOf([
  [-1, "main", 10, 100],
  [0, "b", 20, 50],
  [0, "a", 5, 40],
  [2, "a", 15, 25],
  [3, "c", 10, 10],
  [2, "c", 10, 10],
  [1, "c", 30, 30],
]);

const key = (tree: FlameTree, name: string) => ({ name: tree.names.indexOf(name), layer: 0 });
const paths = (tree: FlameTree) =>
  tree.nodes.parent.map((_, at) => {
    let path = "";
    for (let node = at; node >= 0; node = tree.nodes.parent[node]!)
      path = `/${tree.names[tree.nodes.name[node]!]}${path}`;
    return `${path} ${tree.nodes.self[at]} ${tree.nodes.total[at]}`;
  });

test("an empty flame graph says what is true: to record more, or to look elsewhere", () => {
  const layers = [
    { name: "cpu", events: 10 },
    { name: "posix", events: 0 },
  ];
  assert.match(whyEmpty("cpu", [], true).hint, /fathom run --layers \+cpu/);
  assert.deepEqual(whyEmpty("cpu", layers, true), {
    what: "There is no such sample in what is selected",
    hint: "Samples belong to layer cpu. Choose another weight, or a larger part.",
  });
  assert.equal(whyEmpty("offcpu", layers, false).what, "There is no such sample in this recording");
  assert.match(whyEmpty("bytes", layers, false).hint, /posix and stdio/);
  assert.match(whyEmpty("time", layers, true).hint, /larger part/);
  assert.match(whyEmpty("time", [], false).hint, /fathom run -- PROGRAM/, "another weight of nothing is nothing");
});

test("left heavy puts the heaviest child first and children below their parent", () => {
  const layout = leftHeavy(TREE);
  assert.deepEqual([...layout.x], [0, 0, 50, 50, 50, 75, 0]);
  assert.deepEqual([...layout.depth], [0, 1, 1, 2, 3, 2, 2]);
  assert.equal(layout.total, 100);
  assert.equal(layout.levels, 4);
});

test("time order puts first what was called first", () => {
  const layout = timeOrder(
    treeOf([
      [-1, "x", 5, 30, 0],
      [0, "late", 20, 20, 90],
      [0, "early", 5, 5, 10],
    ]),
  );
  assert.deepEqual([...layout.x], [0, 5, 0]);
  assert.equal(layout.total, 30);
});

test("a zoom shows a node, what is above it over the whole width, and what is below", () => {
  const layout = leftHeavy(TREE);
  const boxes = boxesIn(layout, frameOf(layout, 2), 400);
  const named = boxes.map((box) => [box.node, Math.round(box.x), Math.round(box.width), box.depth]);
  assert.deepEqual(named, [
    [0, 0, 400, 0],
    [2, 0, 400, 1],
    [3, 0, 250, 2],
    [4, 0, 100, 3],
    [5, 250, 100, 2],
  ]);
  assert.equal(boxAt(boxes, 260, 2)?.node, 5);
  assert.equal(boxAt(boxes, 399, 2), undefined);
});

test("boxes below the least width are left out", () => {
  const layout = leftHeavy(TREE);
  assert.deepEqual(
    boxesIn(layout, frameOf(layout, -1), 100, 26).map((box) => box.node),
    [0, 1, 6, 2],
  );
});

test("keys walk the tree", () => {
  const layout = leftHeavy(TREE);
  const go = (node: number, name: "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight") =>
    neighbour(layout, TREE.nodes, node, name);
  assert.equal(go(-1, "ArrowDown"), 0);
  assert.equal(go(0, "ArrowDown"), 1);
  assert.equal(go(1, "ArrowRight"), 2);
  assert.equal(go(2, "ArrowLeft"), 1);
  assert.equal(go(2, "ArrowRight"), 2);
  assert.equal(go(6, "ArrowUp"), 1);
  assert.equal(go(0, "ArrowUp"), 0);
});

test("inverted: roots are functions by their own weight, which adds up to the whole", () => {
  const tree = inverted(TREE);
  assert.deepEqual(paths(tree).sort(), [
    "/a 20 20",
    "/a/a 0 15",
    "/a/a/main 0 15",
    "/a/main 0 5",
    "/b 20 20",
    "/b/main 0 20",
    "/c 50 50",
    "/c/a 0 20",
    "/c/a/a 0 10",
    "/c/a/a/main 0 10",
    "/c/a/main 0 10",
    "/c/b 0 30",
    "/c/b/main 0 30",
    "/main 10 10",
  ]);
  const roots = tree.nodes.total.filter((_, at) => tree.nodes.parent[at] === -1);
  assert.equal(
    roots.reduce((a, b) => a + b),
    TREE.total,
  );
});

test("sandwich: callers and callees of a function have the same total; recursion counts once", () => {
  assert.deepEqual(outermost(TREE, key(TREE, "a")), [2]);
  const callees = calleesOf(TREE, key(TREE, "a"));
  assert.deepEqual(paths(callees), ["/a 5 40", "/a/a 15 25", "/a/a/c 10 10", "/a/c 10 10"]);
  const callers = callersOf(TREE, key(TREE, "c"));
  assert.deepEqual(paths(callers).sort(), [
    "/c 50 50",
    "/c/a 0 20",
    "/c/a/a 0 10",
    "/c/a/a/main 0 10",
    "/c/a/main 0 10",
    "/c/b 0 30",
    "/c/b/main 0 30",
  ]);
  assert.equal(callers.total, 50);
  assert.equal(calleesOf(TREE, key(TREE, "c")).total, 50);
});

test("sums of functions count recursion once", () => {
  const sums = functionSums(TREE).map(({ key: { name }, self, total, calls }) => [
    TREE.names[name],
    self,
    total,
    calls,
  ]);
  assert.deepEqual(sums, [
    ["c", 50, 50, 3],
    ["b", 20, 50, 1],
    ["a", 20, 40, 2],
    ["main", 10, 100, 1],
  ]);
});

test("a search says which share its matches take; a match inside a match counts once", () => {
  assert.deepEqual(findMatches(TREE, "A")?.node, [true, false, true, true, false, false, false]);
  assert.equal(findMatches(TREE, "/^a$/")?.share, 0.4);
  assert.equal(findMatches(TREE, "/^[ac]$/")?.weight, 70);
  assert.equal(findMatches(TREE, "/(/")?.weight, 0, "an unfinished expression matches nothing");
  assert.equal(findMatches(TREE, "  "), undefined);
});

test("two trees are compared path by path, by name and not by number", () => {
  const before = treeOf([
    [-1, "main", 10, 100],
    [0, "gone", 40, 40],
    [0, "b", 50, 50],
  ]);
  const after = treeOf([
    [-1, "main", 10, 110],
    [0, "b", 80, 80],
    [0, "new", 20, 20],
  ]);
  const diff = atOnce(diffTrees(before, after));
  const rows = diff.tree.nodes.name.map((name, at) => {
    return [
      diff.tree.names[name],
      diff.before.total[at],
      diff.after.total[at],
      Math.round(changeOf(diff, at, false) * 1000),
    ];
  });
  assert.deepEqual(rows, [
    ["main", 100, 110, 91],
    ["b", 50, 80, 375],
    ["new", 0, 20, 1000],
    ["gone", 40, 0, -1000],
  ]);
  assert.equal(changeOf(diff, 0, true), 0, "main has the same share of both");
  assert.equal(leftHeavy(diff.tree, diff.before.total).total, 100);
});

test("an empty tree is an empty picture", () => {
  const empty = treeOf([]);
  assert.deepEqual(boxesIn(leftHeavy(empty), { left: 0, right: 0 }, 100), []);
  assert.deepEqual(boxesIn(timeOrder(empty), { left: 0, right: 0 }, 100), []);
  assert.deepEqual(atOnce(diffTrees(empty, empty)).tree.nodes.parent, []);
});

test("a set of trees has what a run has on average", () => {
  const other = treeOf([
    [-1, "main", 20, 60],
    [0, "a", 40, 40],
  ]);
  const mean = atOnce(meanTree([TREE, other], 4));
  const sums = functionSums(mean).map((sum) => [mean.names[sum.key.name], sum.self, sum.total, sum.calls]);
  assert.deepEqual(sums, [
    ["a", 15, 20, 0.75],
    ["c", 12.5, 12.5, 0.75],
    ["main", 7.5, 40, 0.5],
    ["b", 5, 12.5, 0.25],
  ]);
  assert.equal(mean.total, 40);
  assert.equal(atOnce(meanTree([TREE], 1)), TREE);
});

test("a box is found again by its names in a tree that has grown", () => {
  for (let node = 0; node < TREE.nodes.parent.length; ++node) assert.equal(nodeOfPath(TREE, pathOf(TREE, node)), node);
  const before = treeOf([
    [-1, "main", 0, 10],
    [0, "b", 10, 10],
  ]);
  const after = treeOf([
    [-1, "main", 0, 30],
    [0, "a", 20, 20],
    [1, "b", 5, 5],
    [0, "b", 10, 10],
  ]);
  assert.equal(nodeOfPath(after, pathOf(before, 1)), 3);
  assert.equal(nodeOfPath(before, pathOf(after, 1)), -1);
  assert.deepEqual([pathOf(after, -1), nodeOfPath(after, "")], ["", -1]);
});

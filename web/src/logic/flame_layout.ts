// SPDX-License-Identifier: MIT
// Where the boxes of a flame graph lie. Places are in weights, not pixels, so that a zoom needs no
// new layout.
import type { FlameNodes, FlameTree } from "./flame_tree";

// The children of all nodes in one list, since a list for each of tens of thousands takes long to make.
export class Children {
  private readonly begin: Int32Array; // in `list`, of the children of node i at [i + 1], of the roots at [0]
  private readonly list: Int32Array;

  constructor(parents: readonly number[]) {
    this.begin = new Int32Array(parents.length + 2);
    this.list = new Int32Array(parents.length);
    for (const parent of parents) this.begin[parent + 2]! += 1;
    for (let at = 1; at < this.begin.length; ++at) this.begin[at]! += this.begin[at - 1]!;
    const next = this.begin.slice();
    parents.forEach((parent, at) => (this.list[next[parent + 1]!++] = at));
  }

  // Of a node, in the order of drawing; the roots of -1.
  of(node: number): Int32Array {
    return this.list.subarray(this.begin[node + 1], this.begin[node + 2]);
  }

  count(node: number): number {
    return this.begin[node + 2]! - this.begin[node + 1]!;
  }
}

export interface Layout {
  x: Float64Array; // left edge, in weights from the left of the picture
  width: Float64Array;
  depth: Int32Array;
  children: Children;
  total: number; // width of the whole picture
  levels: number;
}

function emptyLayout(count: number, children: Children, total: number): Layout {
  return {
    x: new Float64Array(count),
    width: new Float64Array(count),
    depth: new Int32Array(count),
    children,
    total,
    levels: 0,
  };
}

function setDepths(layout: Layout, parents: readonly number[]): void {
  parents.forEach((parent, at) => {
    const depth = parent < 0 ? 0 : layout.depth[parent]! + 1;
    layout.depth[at] = depth;
    layout.levels = Math.max(layout.levels, depth + 1);
  });
}

type Order = (a: number, b: number) => number;

// Children stand side by side below their parent, from its left edge on.
function layoutBy(tree: FlameTree, weights: readonly number[], order: Order): Layout {
  const children = new Children(tree.nodes.parent);
  const total = children.of(-1).reduce((all, root) => all + weights[root]!, 0);
  const layout = emptyLayout(weights.length, children, total);
  for (let parent = -1; parent < weights.length; ++parent) {
    if (children.count(parent) === 0) continue;
    let x = parent < 0 ? 0 : layout.x[parent]!;
    const below = children.of(parent);
    if (below.length > 1) below.sort(order);
    for (const child of below) {
      layout.x[child] = x;
      layout.width[child] = weights[child]!;
      x += weights[child]!;
    }
  }
  setDepths(layout, tree.nodes.parent);
  return layout;
}

// The heaviest child stands first. `weights` are the totals of the tree, or those of one side of a
// comparison.
export function leftHeavy(tree: FlameTree, weights: readonly number[] = tree.nodes.total): Layout {
  return layoutBy(tree, weights, (a, b) => weights[b]! - weights[a]! || a - b);
}

// What was called first stands first.
export function timeOrder(tree: FlameTree): Layout {
  const start = tree.nodes.start ?? [];
  return layoutBy(tree, tree.nodes.total, (a, b) => (start[a] ?? 0) - (start[b] ?? 0) || a - b);
}

export interface Frame {
  left: number; // in weights
  right: number;
}

// What a zoom into a node shows; -1 is everything.
export function frameOf(layout: Layout, node: number): Frame {
  if (node < 0) return { left: 0, right: layout.total };
  return { left: layout.x[node]!, right: layout.x[node]! + layout.width[node]! };
}

export interface Box {
  node: number;
  x: number; // in pixels
  width: number;
  depth: number;
}

// Boxes of at least `least` pixels inside the frame, cut at its edges. A box that is too narrow
// hides what is below it, which is narrower still, so the walk ends there.
export function boxesIn(layout: Layout, frame: Frame, pixels: number, least = 0.4): Box[] {
  const boxes: Box[] = [];
  const scale = pixels / Math.max(frame.right - frame.left, Number.MIN_VALUE);
  const open = [...layout.children.of(-1)].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const left = Math.max(layout.x[node]!, frame.left);
    const right = Math.min(layout.x[node]! + layout.width[node]!, frame.right);
    const width = (right - left) * scale;
    if (!(width >= least)) continue;
    boxes.push({ node, x: (left - frame.left) * scale, width, depth: layout.depth[node]! });
    const children = layout.children.of(node);
    for (let i = children.length - 1; i >= 0; --i) open.push(children[i]!);
  }
  return boxes;
}

export function boxAt(boxes: readonly Box[], x: number, depth: number): Box | undefined {
  return boxes.find((box) => box.depth === depth && x >= box.x && x < box.x + box.width);
}

// Keys: up and down go to the parent and the heaviest child, left and right to siblings.
export function neighbour(
  layout: Layout,
  nodes: FlameNodes,
  node: number,
  key: "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight",
): number {
  if (node < 0) return layout.children.of(-1)[0] ?? -1;
  if (key === "ArrowUp") return nodes.parent[node]! >= 0 ? nodes.parent[node]! : node;
  if (key === "ArrowDown") return layout.children.of(node)[0] ?? node;
  const siblings = layout.children.of(nodes.parent[node]!);
  const next = siblings.indexOf(node) + (key === "ArrowLeft" ? -1 : 1);
  return siblings[next] ?? node;
}

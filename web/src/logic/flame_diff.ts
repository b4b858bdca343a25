// SPDX-License-Identifier: MIT
// Two call trees as one: nodes with the same path are the same node, with the weight of both sides.
import { nodeCount, TreeBuilder, type FlameTree } from "./flame_tree";

export interface TreeDiff {
  tree: FlameTree; // nodes.total and nodes.self are those of `after`
  before: { self: number[]; total: number[]; whole: number };
  after: { self: number[]; total: number[]; whole: number };
}

// Names of both trees as one list: equal texts have one number.
class Names {
  readonly list: string[] = [];
  private readonly places = new Map<string, number>();

  place(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    this.places.set(name, this.list.length);
    return this.list.push(name) - 1;
  }
}

// The place of each node of `tree` in the builder.
function* merge(builder: TreeBuilder, names: Names, tree: FlameTree): Generator<void, number[]> {
  const shared = tree.names.map((name) => names.place(name)); // each name is looked up once, not for each node
  const place = (at: number) => (at < 0 ? -1 : shared[at]!);
  const places: number[] = [];
  for (let at = 0; at < nodeCount(tree); ++at) {
    const parent = tree.nodes.parent[at]!;
    const key = { name: place(tree.nodes.name[at]!), layer: place(tree.nodes.layer[at]!) };
    places.push(builder.child(parent < 0 ? -1 : places[parent]!, key));
    if (at % 1024 === 1023) yield;
  }
  return places;
}

function side(tree: FlameTree, places: readonly number[], count: number) {
  const self = new Array<number>(count).fill(0);
  const total = new Array<number>(count).fill(0);
  places.forEach((place, at) => {
    self[place]! += tree.nodes.self[at]!;
    total[place]! += tree.nodes.total[at]!;
  });
  return { self, total, whole: tree.total };
}

// Trees of several recordings as one: what a path has in each of so many runs on average. Pauses as diffTrees does.
export function* meanTree(trees: readonly FlameTree[], runs: number): Generator<void, FlameTree> {
  const first = trees[0]!;
  if (runs === 1) return first;
  const builder = new TreeBuilder();
  const names = new Names();
  let total = 0;
  for (const tree of trees) {
    const { self, total: totals, calls } = tree.nodes;
    const places = yield* merge(builder, names, tree);
    places.forEach((place, at) => builder.add(place, self[at]! / runs, totals[at]! / runs, calls[at]! / runs));
    total += tree.total / runs;
  }
  return { ...first, names: names.list, nodes: builder.nodes, total };
}

// Pauses between parts of the work (slices.ts).
export function* diffTrees(before: FlameTree, after: FlameTree): Generator<void, TreeDiff> {
  const builder = new TreeBuilder();
  const names = new Names();
  const newPlaces = yield* merge(builder, names, after);
  const oldPlaces = yield* merge(builder, names, before);
  yield;
  const count = builder.nodes.parent.length;
  const old = side(before, oldPlaces, count);
  const now = side(after, newPlaces, count);
  const nodes = { ...builder.nodes, self: now.self, total: now.total };
  newPlaces.forEach((place, at) => (nodes.calls[place]! += after.nodes.calls[at]!));
  return { tree: { ...after, names: names.list, nodes }, before: old, after: now };
}

// From -1 (only before) over 0 (the same) to 1 (only after). By shares, runs of different length
// compare by what they did, not by how long they took.
export function changeOf(diff: TreeDiff, node: number, byShare: boolean): number {
  const old = diff.before.total[node]! / (byShare ? diff.before.whole || 1 : 1);
  const now = diff.after.total[node]! / (byShare ? diff.after.whole || 1 : 1);
  const most = Math.max(old, now);
  return most > 0 ? (now - old) / most : 0;
}

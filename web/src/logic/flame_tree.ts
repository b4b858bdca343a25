// SPDX-License-Identifier: MIT
// A call tree as columns, as /api/v1/flame sends it, and what can be made of it without asking the
// server again: inverted, callers and callees of one function. Parents stand before children.

export interface FlameNodes {
  parent: number[]; // -1 for a root
  name: number[]; // places in FlameTree.names
  layer: number[]; // places in FlameTree.names, -1 without a layer
  self: number[];
  total: number[];
  calls: number[];
  start?: number[]; // ns since the run's begin; order=time alone
}

export interface FlameTree {
  weight: string;
  unit: string;
  total: number;
  names: string[];
  nodes: FlameNodes;
}

// A function is a name in a layer: `read` of posix is not `read` of fs.
export interface FunctionKey {
  name: number;
  layer: number;
}

export function nodeCount(tree: FlameTree): number {
  return tree.nodes.parent.length;
}

export function isFunction(nodes: FlameNodes, at: number, key: FunctionKey): boolean {
  return nodes.name[at] === key.name && nodes.layer[at] === key.layer;
}

// A number for each function: maps of numbers are much quicker than those of texts, and trees have tens of thousands of nodes.
function numberOf({ name, layer }: FunctionKey): number {
  return (layer + 1) * 2 ** 24 + name;
}

// Grows a tree by paths; equal functions below one parent become one node.
export class TreeBuilder {
  readonly nodes: FlameNodes = { parent: [], name: [], layer: [], self: [], total: [], calls: [] };
  private readonly functions = new Map<number, number>();
  private readonly places = new Map<number, number>();

  child(parent: number, key: FunctionKey): number {
    const said = numberOf(key);
    let one = this.functions.get(said);
    if (one === undefined) this.functions.set(said, (one = this.functions.size));
    const id = (parent + 1) * 2 ** 24 + one;
    const known = this.places.get(id);
    if (known !== undefined) return known;
    const at = this.nodes.parent.length;
    this.places.set(id, at);
    this.nodes.parent.push(parent);
    this.nodes.name.push(key.name);
    this.nodes.layer.push(key.layer);
    this.nodes.self.push(0);
    this.nodes.total.push(0);
    this.nodes.calls.push(0);
    return at;
  }

  add(at: number, self: number, total: number, calls: number): void {
    this.nodes.self[at]! += self;
    this.nodes.total[at]! += total;
    this.nodes.calls[at]! += calls;
  }
}

export function keyOf(nodes: FlameNodes, at: number): FunctionKey {
  return { name: nodes.name[at]!, layer: nodes.layer[at]! };
}

function withNodes(tree: FlameTree, nodes: FlameNodes, total: number): FlameTree {
  return { weight: tree.weight, unit: tree.unit, names: tree.names, nodes, total };
}

// Adds the chain of callers of `at`, outwards, with the weight that is looked at.
function addCallers(builder: TreeBuilder, nodes: FlameNodes, at: number, weight: number): void {
  let place = -1;
  for (let node = at; node >= 0; node = nodes.parent[node]!) {
    place = builder.child(place, keyOf(nodes, node));
    builder.add(place, node === at ? weight : 0, weight, nodes.calls[at]!);
  }
}

// Who spent the weight, and who called them: roots are functions by self weight.
export function inverted(tree: FlameTree): FlameTree {
  const builder = new TreeBuilder();
  tree.nodes.self.forEach((self, at) => {
    if (self > 0) addCallers(builder, tree.nodes, at, self);
  });
  return withNodes(tree, builder.nodes, tree.total);
}

// Nodes of a function that do not lie inside another of it, so that recursion counts once.
export function outermost(tree: FlameTree, key: FunctionKey): number[] {
  const nodes = tree.nodes;
  const inside: boolean[] = [];
  const found: number[] = [];
  nodes.parent.forEach((parent, at) => {
    const below = parent >= 0 && inside[parent]!;
    const here = isFunction(nodes, at, key);
    if (here && !below) found.push(at);
    inside.push(here || below);
  });
  return found;
}

// Everything below the function, all its places merged into one tree.
export function calleesOf(tree: FlameTree, key: FunctionKey): FlameTree {
  const builder = new TreeBuilder();
  const nodes = tree.nodes;
  const roots = new Set(outermost(tree, key));
  const placeOf = new Map<number, number>();
  let total = 0;
  nodes.parent.forEach((parent, at) => {
    const above = placeOf.get(parent);
    if (above === undefined && !roots.has(at)) return;
    const place = builder.child(above ?? -1, keyOf(nodes, at));
    placeOf.set(at, place);
    builder.add(place, nodes.self[at]!, nodes.total[at]!, nodes.calls[at]!);
    if (above === undefined) total += nodes.total[at]!;
  });
  return withNodes(tree, builder.nodes, total);
}

// The function as the one root, its callers below it, theirs below them.
export function callersOf(tree: FlameTree, key: FunctionKey): FlameTree {
  const builder = new TreeBuilder();
  let total = 0;
  for (const at of outermost(tree, key)) {
    addCallers(builder, tree.nodes, at, tree.nodes.total[at]!);
    total += tree.nodes.total[at]!;
  }
  return withNodes(tree, builder.nodes, total);
}

export interface FunctionSum {
  key: FunctionKey;
  self: number;
  total: number; // recursion counted once
  calls: number;
}

// One row for each function, the largest self weight first.
export function functionSums(tree: FlameTree): FunctionSum[] {
  const sums = new Map<number, FunctionSum>();
  const nodes = tree.nodes;
  const functions = nodes.name.map((name, at) => numberOf({ name, layer: nodes.layer[at]! }));
  const isInsideItself = (at: number): boolean => {
    let above = nodes.parent[at]!;
    while (above >= 0 && functions[above] !== functions[at]) above = nodes.parent[above]!;
    return above >= 0;
  };
  functions.forEach((id, at) => {
    let sum = sums.get(id);
    if (!sum) sums.set(id, (sum = { key: keyOf(nodes, at), self: 0, total: 0, calls: 0 }));
    sum.self += nodes.self[at]!;
    sum.calls += nodes.calls[at]!;
    if (!isInsideItself(at)) sum.total += nodes.total[at]!;
  });
  return [...sums.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

// SPDX-License-Identifier: MIT
// Boxes of a flame graph as numbers: the card of one, the table of all, functions by weight.
import type { JSX } from "preact";
import { escapeName } from "../../logic/escape";
import type { TreeDiff } from "../../logic/flame_diff";
import { isOfCalls } from "../../logic/flame_weights";
import { functionSums, type FlameTree, type FunctionSum } from "../../logic/flame_tree";
import { eventsNamed, samplesOf } from "../../logic/places";
import type { TableData } from "../../logic/table";
import { counted, humanNumber, humanPercent, signedNumber, type Measure } from "../../logic/units";
import { goToFunction } from "../parts/go";

export function measureOfUnit(unit: string): Measure {
  if (unit === "ns") return "ns";
  return unit === "bytes" || unit === "B" ? "bytes" : "count";
}

export function nameOf(tree: FlameTree, node: number): string {
  return tree.names[tree.nodes.name[node]!] ?? "";
}

export function layerOf(tree: FlameTree, node: number): string {
  return tree.names[tree.nodes.layer[node]!] ?? "";
}

function ofCalls(tree: FlameTree): boolean {
  return isOfCalls(tree.weight);
}

// To where the box's function took most time, of calls or of samples.
export function goToBox(tree: FlameTree, node: number): void {
  const name = nameOf(tree, node);
  void goToFunction(name, ofCalls(tree) ? eventsNamed(name, layerOf(tree, node)) : samplesOf(name));
}

function share(part: number, whole: number): string {
  return whole > 0 ? humanPercent((100 * part) / whole) : "-";
}

export function Card({ tree, node }: { tree: FlameTree; node: number }): JSX.Element {
  const measure = measureOfUnit(tree.unit);
  const { self, total, calls } = tree.nodes;
  return (
    <>
      <b>{escapeName(nameOf(tree, node))}</b> <span>{escapeName(layerOf(tree, node))}</span>
      <span>
        total {humanNumber(total[node]!, measure)} ({share(total[node]!, tree.total)})
      </span>
      <span>
        self {humanNumber(self[node]!, measure)} ({share(self[node]!, tree.total)})
      </span>
      <span>{counted(calls[node]!, ofCalls(tree) ? "call" : "sample")}</span>
    </>
  );
}

export function DiffCard({ diff, node }: { diff: TreeDiff; node: number }): JSX.Element {
  const { tree, before, after } = diff;
  const measure = measureOfUnit(tree.unit);
  const [old, now] = [before.total[node]!, after.total[node]!];
  return (
    <>
      <b>{escapeName(nameOf(tree, node))}</b> <span>{escapeName(layerOf(tree, node))}</span>
      <span>
        before {humanNumber(old, measure)} ({share(old, before.whole)})
      </span>
      <span>
        after {humanNumber(now, measure)} ({share(now, after.whole)})
      </span>
      <span>
        change {signedNumber(now - old, measure)}
        {old > 0 ? ` (${signedNumber((100 * (now - old)) / old, "percent")})` : ""}
      </span>
    </>
  );
}

export function flameTable(tree: FlameTree): TableData {
  const measure = measureOfUnit(tree.unit);
  const { parent, self, total, calls } = tree.nodes;
  const depths: number[] = [];
  parent.forEach((above) => depths.push(above < 0 ? 0 : depths[above]! + 1));
  return {
    columns: [
      { name: "depth", measure: "none" },
      { name: "name", measure: "none" },
      { name: "layer", measure: "none" },
      { name: "self", measure },
      { name: "total", measure },
      { name: "calls", measure: "count" },
    ],
    rows: parent.map((_, at) => [depths[at]!, nameOf(tree, at), layerOf(tree, at), self[at]!, total[at]!, calls[at]!]),
  };
}

export function functionTable(tree: FlameTree): { table: TableData; sums: FunctionSum[] } {
  const measure = measureOfUnit(tree.unit);
  const sums = functionSums(tree).filter(({ key }) => tree.names[key.name] !== "all" || tree.names[key.layer]);
  const table: TableData = {
    columns: [
      { name: "name", measure: "none" },
      { name: ofCalls(tree) ? "layer" : "module", measure: "none" },
      { name: "self", measure },
      { name: "share", measure: "percent" },
      { name: "total", measure },
      { name: ofCalls(tree) ? "calls" : "samples", measure: "count" },
    ],
    rows: sums.map(({ key, self, total, calls }) => {
      const part = tree.total > 0 ? (100 * self) / tree.total : null;
      return [tree.names[key.name] ?? "", tree.names[key.layer] ?? "", self, part, total, calls];
    }),
  };
  return { table, sums };
}

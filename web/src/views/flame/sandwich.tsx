// SPDX-License-Identifier: MIT
// One function between its callers, above, and what it calls, below.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { escapeName } from "../../logic/escape";
import { leftHeavy } from "../../logic/flame_layout";
import { calleesOf, callersOf, keyOf, type FlameTree, type FunctionKey } from "../../logic/flame_tree";
import { Empty } from "../../shell/states";
import { shade } from "../../theme/theme";
import { DataTable } from "../parts/data_table";
import { fillsOf } from "./colours";
import { Card, functionTable, goToBox } from "./numbers";
import { FlamePicture } from "./picture";
import { chooseFunction, chosenFunction, functionIn } from "./settings";

function Half({ title, tree, upwards }: { title: string; tree: FlameTree; upwards: boolean }): JSX.Element {
  const layout = useMemo(() => leftHeavy(tree), [tree]);
  const fill = useMemo(() => fillsOf(tree, shade.value), [tree, shade.value]);
  return (
    <FlamePicture
      title={title}
      tree={tree}
      layout={layout}
      fill={fill}
      matched={undefined}
      upwards={upwards}
      onPlace={(node) => goToBox(tree, node)}
      card={(node) => <Card tree={tree} node={node} />}
      onFunction={(node) => chooseFunction(tree, keyOf(tree.nodes, node))}
    />
  );
}

function Both({ tree, of }: { tree: FlameTree; of: FunctionKey }): JSX.Element {
  const callers = useMemo(() => callersOf(tree, of), [tree, of.name, of.layer]);
  const callees = useMemo(() => calleesOf(tree, of), [tree, of.name, of.layer]);
  const name = escapeName(tree.names[of.name] ?? "");
  return (
    <>
      <Half title={`Callers of ${name}`} tree={callers} upwards />
      <Half title={`${name} and what it calls`} tree={callees} upwards={false} />
    </>
  );
}

// One function in the middle, its callers above and its callees below: both are made of the tree that is there.
export function Sandwich({ tree }: { tree: FlameTree }): JSX.Element {
  const { table, sums } = useMemo(() => functionTable(tree), [tree]);
  const of = functionIn(tree, chosenFunction.value) ?? sums[0]?.key; // the heaviest, until another is chosen
  return (
    <div class="sandwich">
      <DataTable
        title="Functions"
        table={table}
        onRow={(row) => chooseFunction(tree, sums[row]!.key)}
        rowTitle="Show its callers and callees"
        visible={10}
      />
      <div>
        {of ? (
          <Both tree={tree} of={of} />
        ) : (
          <Empty what="Choose a function" hint="A row shows its callers and callees." />
        )}
      </div>
    </div>
  );
}

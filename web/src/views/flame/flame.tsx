// SPDX-License-Identifier: MIT
// Flame graphs of the selected part: by any weight, in several orders, of one recording or of two.
import type { JSX } from "preact";
import { api, exportUrl, type FlameWish, type Part } from "../../api/client";
import { escapeName } from "../../logic/escape";
import { whyEmpty } from "../../logic/flame_empty";
import { findMatches } from "../../logic/flame_search";
import type { FlameTree } from "../../logic/flame_tree";
import { counted, humanPercent } from "../../logic/units";
import { Answered, Empty } from "../../shell/states";
import { inFile, recording, recordings } from "../../state/page";
import { changeSetting, isLimited, part, selection } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { patiently } from "../parts/patience";
import { Choice, options, Search, Switch } from "../parts/choice";
import { Difference } from "./difference";
import { Sandwich } from "./sandwich";
import { against, mode, search, usualWeight, weight } from "./settings";
import { Single } from "./single";
import { useWeights } from "./weights";

const MODES = options(
  ["left", "left heavy"],
  ["time", "time order"],
  ["inverted", "inverted"],
  ["sandwich", "callers and callees"],
  ["diff", "compare with another recording"],
);
const MODES_OF_ONE = MODES.filter(({ value }) => value !== "diff");

interface Question {
  wish: FlameWish;
  part: Part;
}

function askFlame({ wish, part: of }: Question, signal: AbortSignal): Promise<FlameTree> {
  return patiently(() => api.flame(wish, of, signal), signal);
}

function wished(): FlameWish {
  const order = mode.value === "time" ? "time" : "tree";
  return { weight: weight.value, order, invert: mode.value === "inverted", min: 0.0002 };
}

function Against(): JSX.Element {
  const others = recordings.value.map(({ id, name }) => ({ value: id, title: escapeName(name) }));
  return (
    <>
      <Choice
        name="flame.against"
        label="Before"
        usual=""
        options={[{ value: "", title: "choose a recording" }, ...others]}
      />
      <Choice
        name="flame.width"
        label="Width"
        usual="after"
        options={options(["after", "after"], ["before", "before"])}
      />
      <Switch name="flame.shares" label="compare shares" />
    </>
  );
}

function Found({ tree }: { tree: FlameTree | null }): JSX.Element | null {
  const matches = tree && findMatches(tree, search.value);
  if (!matches) return null;
  return (
    <>
      {counted(matches.functions, "function")}, {humanPercent(100 * matches.share)}
    </>
  );
}

function Compared({ after }: { after: FlameTree }): JSX.Element {
  const before = useAnswer(
    () => ({
      wish: wished(),
      part: { recording: against.value, layers: selection.value.layers, where: selection.value.where },
    }),
    askFlame,
  );
  const { from, to, hosts, pids, tids } = selection.value;
  const ofThisOnly = from !== null || to !== null || hosts.length + pids.length + tids.length > 0;
  return (
    <>
      {ofThisOnly && (
        <p class="note">
          The selected time, hosts, processes and threads are of this recording; the one before is shown whole.
        </p>
      )}
      <Answered of={before} what="Asking for the other recording">
        {(tree) => <Difference before={tree} after={after} />}
      </Answered>
    </>
  );
}

function NoWeight(): JSX.Element {
  const others =
    weight.value === "time" ? null : (
      <button type="button" onClick={() => changeSetting("flame.weight", "time", "push")}>
        Show the time of recorded calls
      </button>
    );
  const { what, hint } = whyEmpty(weight.value, recording.value?.layers ?? [], isLimited(selection.value));
  return (
    <Empty
      what={what}
      hint={
        <>
          {hint} {others}
        </>
      }
    />
  );
}

function Body({ tree }: { tree: FlameTree }): JSX.Element {
  if (tree.nodes.parent.length === 0 || tree.total === 0) {
    return <NoWeight />;
  }
  if (mode.value === "sandwich") return <Sandwich tree={tree} />;
  if (mode.value !== "diff") return <Single tree={tree} />;
  if (against.value) return <Compared after={tree} />;
  return <Empty what="Choose the recording from before" hint="It stands above the picture." />;
}

export function Flame(): JSX.Element {
  const flame = useAnswer(() => ({ wish: wished(), part: part.value }), askFlame);
  const weights = useWeights(() => [selection.value.recording]);
  return (
    <div class="view flame">
      <div class="tools" role="toolbar" aria-label="Flame graph">
        <Choice name="flame.mode" label="Order" usual="left" options={inFile.value ? MODES_OF_ONE : MODES} />
        <Choice name="flame.weight" label="Weight" usual={usualWeight.value} options={weights} />
        {mode.value === "diff" && <Against />}
        <Search name="flame.search" label="Search">
          <Found tree={flame.value} />
        </Search>
        {!inFile.value && (
          <a
            href={exportUrl("speedscope", part.value)}
            download
            title="Saves the selected calls by time, whichever weight is shown; speedscope.app, or your own copy of it, opens the file"
          >
            Save for speedscope
          </a>
        )}
      </div>
      <Answered of={flame} what="Adding up calls">
        {(tree) => <Body tree={tree} />}
      </Answered>
    </div>
  );
}

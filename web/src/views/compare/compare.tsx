// SPDX-License-Identifier: MIT
// Two recordings side by side: what each was, what changed and how surely, and where in the program.
import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { api, type Part } from "../../api/client";
import type { Recording } from "../../api/types";
import { escapeName } from "../../logic/escape";
import type { FlameTree } from "../../logic/flame_tree";
import { eventsNamed, samplesOf } from "../../logic/places";
import { tableKeys, type Report, type ReportRow } from "../../logic/report";
import { Answered, Empty } from "../../shell/states";
import { ofAnotherRecording } from "../../state/hash";
import { recording, recordings } from "../../state/page";
import { select, selection, setting } from "../../state/selection";
import { Difference } from "../flame/difference";
import { useWeights } from "../flame/weights";
import { RunCard } from "../overview/run_card";
import { useAnswer } from "../parts/answer";
import { Choice, options, Switch } from "../parts/choice";
import { goToFile, goToFunction } from "../parts/go";
import { patiently } from "../parts/patience";
import { ReportTable, Words } from "../parts/report_tables";

const beforeId = setting("compare.before", "");
const chosenWeight = setting("compare.weight", "");
// Samples, where both have some.
const usualWeight = computed(() => {
  const sides = recordings.value.filter(({ id }) => id === recording.value?.id || id === beforeId.value);
  const sampled = sides.every(({ layers }) => layers.some(({ name, events }) => name === "cpu" && events > 0));
  return sides.length === 2 && sampled ? "cpu" : "time";
});
const weight = computed(() => chosenWeight.value || usualWeight.value);

const ROWS = 1000; // of each table; some are seen, others scrolled to

// As `fathom diff --format json A B` prints it.
async function askDiff(sides: { a: string; b: string }, signal: AbortSignal): Promise<Report> {
  return api.other<Report>("/diff", { ...sides, top: ROWS }, signal);
}

function useFlame(side: () => string) {
  return useAnswer(
    () => ({ part: { recording: side() } as Part, weight: weight.value }),
    (wish, signal): Promise<FlameTree> =>
      patiently(() => api.flame({ weight: wish.weight, min: 0.0002 }, wish.part, signal), signal),
  );
}

function Flames({ before, after }: { before: string; after: string }): JSX.Element {
  const old = useFlame(() => beforeId.value || before);
  const now = useFlame(() => recording.value?.id ?? after);
  const weights = useWeights(() => [beforeId.value || before, recording.value?.id ?? after]);
  return (
    <section aria-label="Differential flame graph">
      <div class="tools" role="toolbar" aria-label="Differential flame graph">
        <Choice name="compare.weight" label="Weight" usual={usualWeight.value} options={weights} />
        <Choice
          name="flame.width"
          label="Width"
          usual="after"
          options={options(["after", "after"], ["before", "before"])}
        />
        <Switch name="flame.shares" label="compare shares" />
      </div>
      <Answered of={old} what="Adding up calls of the first">
        {(first) => (
          <Answered of={now} what="Adding up calls of the second">
            {(second) => <Difference before={first} after={second} />}
          </Answered>
        )}
      </Answered>
    </section>
  );
}

// Rows of the later recording's functions, samples and files lead to their place in it.
const LEADS: Record<string, (row: ReportRow) => void> = {
  by_function: (row) =>
    void goToFunction(String(row["name"]), eventsNamed(String(row["name"]), String(row["layer"] ?? ""))),
  by_sampled_function: (row) => void goToFunction(String(row["function"]), samplesOf(String(row["function"]))),
  by_layer: (row) => select({ view: "timeline", layers: [String(row["layer"])] }),
  by_file: (row) => void goToFile(String(row["file"])),
};

function Changes({ report }: { report: Report }): JSX.Element {
  return (
    <>
      {tableKeys(report).map((key) => {
        const onRow = LEADS[key];
        const leads = onRow && { onRow, rowTitle: "Show in the timeline of the later recording" };
        return <ReportTable key={key} report={report} of={key} {...leads} />;
      })}
    </>
  );
}

function swap(before: string, after: string): void {
  const other = ofAnotherRecording(selection.peek(), before);
  select({ ...other, settings: { ...other.settings, "compare.before": after } });
}

function Sides({ before, after }: { before: Recording; after: Recording }): JSX.Element {
  const diff = useAnswer(() => ({ a: beforeId.value || before.id, b: recording.value?.id ?? after.id }), askDiff);
  return (
    <>
      <div class="columns">
        <div>
          <h2>Before</h2>
          <RunCard recording={before} />
        </div>
        <div>
          <h2>After</h2>
          <RunCard recording={after} />
        </div>
      </div>
      <Answered of={diff} what="Comparing">
        {(report) => <Words report={report} />}
      </Answered>
      <Flames before={before.id} after={after.id} />
      <section aria-label="What changed">{diff.value && <Changes report={diff.value} />}</section>
    </>
  );
}

export function Compare(): JSX.Element {
  const after = recording.value;
  const others = recordings.value.filter(({ id }) => id !== after?.id);
  const before = others.find(({ id }) => id === beforeId.value) ?? others[0];
  if (!after || !before) {
    return (
      <Empty
        what="There is only one recording"
        hint={
          <>
            <code>fathom view BEFORE AFTER</code> opens two, which can be compared. Of several runs each, put the
            recordings into two directories: <code>fathom view BEFORE/ AFTER/</code> compares all runs of one with all
            of the other.
          </>
        }
      />
    );
  }
  return (
    <div class="view compare">
      <div class="tools" role="toolbar" aria-label="Recordings">
        <Choice
          name="compare.before"
          label="Before"
          usual={others[0]!.id}
          options={others.map(({ id, name }) => ({ value: id, title: escapeName(name) }))}
        />
        <label class="choice">
          <span>After</span>
          <select
            value={after.id}
            onChange={(event) => select(ofAnotherRecording(selection.peek(), event.currentTarget.value))}
          >
            {recordings.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {escapeName(name)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => swap(before.id, after.id)}>
          Swap
        </button>
      </div>
      <Sides key={`${before.id} ${after.id}`} before={before} after={after} />
    </div>
  );
}

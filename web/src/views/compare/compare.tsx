// SPDX-License-Identifier: MIT
// Two recordings side by side, or two sets of runs: what each was, what changed and how surely, and where in the program.
import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { api } from "../../api/client";
import type { Recording } from "../../api/types";
import { escapeName } from "../../logic/escape";
import { meanTree } from "../../logic/flame_diff";
import type { FlameTree } from "../../logic/flame_tree";
import { eventsNamed, samplesOf } from "../../logic/places";
import { tableKeys, type Report, type ReportRow } from "../../logic/report";
import { countRuns, pairOf, runsOf, toggledId, unknownIds, without } from "../../logic/sides";
import { inSlices } from "../../logic/slices";
import { counted } from "../../logic/units";
import { Answered, Empty } from "../../shell/states";
import { ofAnotherRecording } from "../../state/hash";
import { recording, recordings } from "../../state/page";
import { changeSetting, select, selection, setting, type Selection } from "../../state/selection";
import { Difference } from "../flame/difference";
import { useWeights } from "../flame/weights";
import { RunCard } from "../overview/run_card";
import { useAnswer } from "../parts/answer";
import { Choice, options, Switch } from "../parts/choice";
import { goToFile, goToFunction } from "../parts/go";
import { patiently } from "../parts/patience";
import { ReportTable, Words } from "../parts/report_tables";

const beforeId = setting("compare.before", "");
const MORE = { before: "compare.more_before", after: "compare.more_after" } as const;
const more = { before: setting(MORE.before, ""), after: setting(MORE.after, "") };
const chosenWeight = setting("compare.weight", "");

const titles = { before: "Before", after: "After" } as const;

const ROWS = 1000; // of each table; some are seen, others scrolled to

interface Sides {
  before: Recording[]; // the chosen one first
  after: Recording[];
}

// Nothing where there are not two.
const sides = computed<Sides | null>(() => {
  const all = recordings.value;
  const pair = recording.value && pairOf(all, recording.value, beforeId.value);
  if (!pair) return null;
  const before = runsOf(pair.before, more.before.value, all, [pair.after]);
  return { before, after: runsOf(pair.after, more.after.value, all, before) };
});

const unknown = computed(() => {
  const told = [beforeId.value, more.before.value, more.after.value].join("\n");
  return unknownIds(told, recordings.value);
});

// Samples, where all have some.
const usualWeight = computed(() => {
  const all = sides.value ? [...sides.value.before, ...sides.value.after] : [];
  const sampled = all.every(({ layers }) => layers.some(({ name, events }) => name === "cpu" && events > 0));
  return sampled ? "cpu" : "time";
});
const weight = computed(() => chosenWeight.value || usualWeight.value);

const idsOf = (side: readonly Recording[]): string[] => side.map(({ id }) => id);

// As `fathom diff --format json A B` prints it.
async function askDiff({ before, after }: { before: string[]; after: string[] }, signal: AbortSignal): Promise<Report> {
  return api.other<Report>("/diff", { a: before.join("\n"), b: after.join("\n"), top: ROWS }, signal);
}

interface FlameOfSide {
  ids: string[];
  runs: number;
  weight: string;
}

// What a run of the side has on average: sides may have different numbers of runs.
async function askFlames({ ids, runs, weight }: FlameOfSide, signal: AbortSignal): Promise<FlameTree> {
  const wish = { weight, min: 0.0002 };
  const trees = await Promise.all(ids.map((id) => patiently(() => api.flame(wish, { recording: id }, signal), signal)));
  return new Promise((done) => inSlices(meanTree(trees, runs), signal, done));
}

function useFlame(side: () => readonly Recording[]) {
  return useAnswer<FlameOfSide, FlameTree>(
    () => ({ ids: idsOf(side()), runs: countRuns(side()), weight: weight.value }),
    askFlames,
  );
}

function Flames({ now }: { now: Sides }): JSX.Element {
  const chosen = (): Sides => sides.value ?? now;
  const old = useFlame(() => chosen().before);
  const later = useFlame(() => chosen().after);
  const weights = useWeights(() => idsOf([...chosen().before, ...chosen().after]));
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
        {countRuns([...now.before, ...now.after]) > 2 && <span class="faint">a run on average</span>}
      </div>
      <Answered of={old} what="Adding up calls of the first">
        {(first) => (
          <Answered of={later} what="Adding up calls of the second">
            {(second) => <Difference before={first} after={second} />}
          </Answered>
        )}
      </Answered>
    </section>
  );
}

// The address says both from then on.
function comparing(before: string, after: string): Selection {
  const chosen = selection.peek();
  const kept = recording.peek()?.id === after ? chosen : ofAnotherRecording(chosen, after);
  return { ...kept, recording: after, settings: { ...kept.settings, "compare.before": before } };
}

// Rows of the later recording's functions, samples and files lead to their place in it.
const LEADS: Record<string, (row: ReportRow) => void> = {
  by_function: (row) =>
    void goToFunction(String(row["name"]), eventsNamed(String(row["name"]), String(row["layer"] ?? ""))),
  by_sampled_function: (row) => void goToFunction(String(row["function"]), samplesOf(String(row["function"]))),
  by_layer: (row) => select({ view: "timeline", layers: [String(row["layer"])] }),
  by_file: (row) => void goToFile(String(row["file"])),
};

// The places are of the later recording, which may be another one than the current.
function leadTo(lead: (row: ReportRow) => void, row: ReportRow): void {
  const now = sides.peek();
  if (now) select(comparing(now.before[0]!.id, now.after[0]!.id), "replace");
  lead(row);
}

function Changes({ report }: { report: Report }): JSX.Element {
  return (
    <>
      {tableKeys(report).map((key) => {
        const lead = LEADS[key];
        const rowTitle = "Show in the timeline of the later recording";
        const leads = lead && { onRow: (row: ReportRow) => leadTo(lead, row), rowTitle };
        return <ReportTable key={key} report={report} of={key} {...leads} />;
      })}
    </>
  );
}

function swap({ before, after }: Sides): void {
  const other = comparing(after[0]!.id, before[0]!.id);
  const settings: Record<string, string> = { ...other.settings };
  const rest = { [MORE.before]: after, [MORE.after]: before };
  for (const [name, side] of Object.entries(rest)) {
    delete settings[name];
    if (side.length > 1) settings[name] = idsOf(side.slice(1)).join("\n");
  }
  select({ ...other, settings });
}

// The one of the other side: they change places.
function choose(of: "before" | "after", id: string, now: Sides): void {
  const ids = { before: now.before[0]!.id, after: now.after[0]!.id, [of]: id };
  if (ids.before === ids.after) swap(now);
  else select(comparing(ids.before, ids.after));
}

function SideChoice({ of, now }: { of: "before" | "after"; now: Sides }): JSX.Element {
  return (
    <label class="choice">
      <span>{titles[of]}</span>
      <select value={now[of][0]!.id} onChange={(event) => choose(of, event.currentTarget.value, now)}>
        {recordings.value.map(({ id, name }) => (
          <option key={id} value={id}>
            {escapeName(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

// What is measured several times is told with confidence.
function MoreRuns({ of, side, other }: { of: "before" | "after"; side: Recording[]; other: Recording[] }): JSX.Element {
  const free = without(recordings.value, [side[0]!, ...other]);
  const runs = countRuns(side);
  return (
    <details class="more-runs">
      <summary>{counted(runs, "run")}</summary>
      {free.map(({ id, name }) => (
        <label class="choice" key={id}>
          <input
            type="checkbox"
            checked={side.some((each) => each.id === id)}
            onChange={() => changeSetting(MORE[of], toggledId(more[of].peek(), id), "push")}
          />
          {escapeName(name)}
        </label>
      ))}
    </details>
  );
}

function Side({ of, now }: { of: "before" | "after"; now: Sides }): JSX.Element {
  const side = now[of];
  return (
    <div>
      <h2>{titles[of]}</h2>
      <RunCard recording={side[0]!} />
      {recordings.value.length > 2 && (
        <MoreRuns of={of} side={side} other={now[of === "before" ? "after" : "before"]} />
      )}
    </div>
  );
}

function Compared({ now }: { now: Sides }): JSX.Element {
  const diff = useAnswer(() => {
    const { before, after } = sides.value ?? now;
    return { before: idsOf(before), after: idsOf(after) };
  }, askDiff);
  return (
    <>
      <div class="columns">
        <Side of="before" now={now} />
        <Side of="after" now={now} />
      </div>
      <Answered of={diff} what="Comparing">
        {(report) => <Words report={report} />}
      </Answered>
      <Flames now={now} />
      <section aria-label="What changed">{diff.value && <Changes report={diff.value} />}</section>
    </>
  );
}

// Old links name recordings that are gone.
function NotHere(): JSX.Element | null {
  if (unknown.value.length === 0) return null;
  return (
    <p class="note" role="status">
      The address names what is not here: {unknown.value.map(escapeName).join(", ")}. The fields say what is compared.
    </p>
  );
}

function OnlyOne(): JSX.Element {
  return (
    <Empty
      what="There is only one recording"
      hint={
        <>
          <code>fathom view BEFORE AFTER</code> opens two, which can be compared. Of several runs each, name them all,
          or put the recordings into two directories: <code>fathom view BEFORE/ AFTER/</code> compares all runs of one
          with all of the other.
        </>
      }
    />
  );
}

// Which recordings are compared is in the address, like all that is chosen.
export function Compare(): JSX.Element {
  const now = sides.value;
  if (!now) return <OnlyOne />;
  const [before, after] = [now.before[0]!, now.after[0]!];
  return (
    <div class="view compare">
      <div class="tools" role="toolbar" aria-label="Recordings">
        <SideChoice of="before" now={now} />
        <SideChoice of="after" now={now} />
        <button type="button" onClick={() => swap(now)}>
          Swap
        </button>
      </div>
      <NotHere />
      <Compared key={`${before.id} ${after.id}`} now={now} />
    </div>
  );
}

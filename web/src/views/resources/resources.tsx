// SPDX-License-Identifier: MIT
// What processes, the machine and GPUs used: a plot for each counter, one cursor for all.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import type { QueryAnswer } from "../../api/types";
import { counterLines, counterNotes, counterValues } from "../../logic/counter_lines";
import { picturesOf } from "../../logic/counters";
import { escapeName } from "../../logic/escape";
import { Answered, Empty } from "../../shell/states";
import { range } from "../../state/page";
import { isLimited, part, selection } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { Plot } from "./plot";

const MOST_ROWS = 10_000; // of lines; the statement answers fewer unless there are as many counters

function nothing(layers: readonly string[]): JSX.Element {
  const chosen = layers.length > 0 ? ` Of layers ${layers.map(escapeName).join(", ")} there is none.` : "";
  return (
    <Empty
      what={isLimited(selection.value) ? "No counter was recorded in this part" : "No counter was recorded"}
      hint={`fathom run records layer resource unless --layers leaves it out.${chosen}`}
    />
  );
}

function Plots({ answer }: { answer: QueryAnswer }): JSX.Element {
  const seen = range.value;
  const { lines, pictures, absent } = useMemo(() => {
    const lines = counterLines(answer.rows);
    const pictures = picturesOf(lines, seen.from, seen.to);
    const shown = new Set(pictures.map(({ name }) => name));
    return { lines, pictures, absent: [...new Set(lines.map(({ name }) => name))].filter((name) => !shown.has(name)) };
  }, [answer, seen.from, seen.to]);
  if (pictures.length === 0) return nothing(part.value.layers ?? []);
  const notes = counterNotes(lines, part.value, seen.from, seen.to).map(escapeName);
  if (absent.length > 0)
    notes.push(`Too few values around this time to draw a line: ${absent.map(escapeName).join(", ")}.`);
  if (answer.truncated) {
    const last = escapeName(lines.at(-1)!.name);
    notes.push(`There are more counters than the page shows: those behind ${last} in the alphabet. Select layers.`);
  }
  return (
    <div class="plots">
      {pictures.map((picture) => (
        <Plot key={picture.name} picture={picture} seen={seen} />
      ))}
      {notes.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
    </div>
  );
}

export function Resources(): JSX.Element {
  // The end of a recording that is being made is looked up when it is asked: it is no other question because of it.
  const counters = useAnswer(
    () => ({ ...part.value, where: "" }),
    ({ recording, ...chosen }, signal) => {
      const { from, to } = range.peek();
      const values = counterValues(chosen, from, to);
      return api.statement({ name: "counters", values, recording: recording ?? "", limit: MOST_ROWS }, signal);
    },
  );
  return (
    <div class="view resources">
      <Answered of={counters} what="Asking for counters">
        {(answer) => <Plots answer={answer} />}
      </Answered>
    </div>
  );
}

// SPDX-License-Identifier: MIT
// What processes, the machine and GPUs used: a plot for each counter, one cursor for all.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import type { QueryAnswer } from "../../api/types";
import { counterRows, counterValues, picturesOf } from "../../logic/counters";
import { escapeName } from "../../logic/escape";
import { Answered, Empty } from "../../shell/states";
import { range } from "../../state/page";
import { isLimited, part, selection } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { Plot } from "./plot";

const BINS = 600;
const MOST_ROWS = 200_000;

function Plots({ answer }: { answer: QueryAnswer }): JSX.Element {
  const pids = part.value.pids ?? [];
  const seen = range.value;
  const { pictures, absent } = useMemo(() => {
    const chosen = answer.rows.filter(([, , , , pid]) => !pids.length || pid === null || pids.includes(Number(pid)));
    const rows = counterRows(chosen);
    const pictures = picturesOf(rows, seen.from, seen.to);
    const shown = new Set(pictures.map(({ name }) => name));
    return { pictures, absent: [...new Set(rows.map(({ name }) => name))].filter((name) => !shown.has(name)) };
  }, [answer, pids.join(), seen.from, seen.to]);
  if (pictures.length === 0) {
    return (
      <Empty
        what={isLimited(selection.value) ? "No counter was recorded in this part" : "No counter was recorded"}
        hint="fathom run records layer resource unless --layers leaves it out."
      />
    );
  }
  return (
    <div class="plots">
      {pictures.map((picture) => (
        <Plot key={picture.name} picture={picture} seen={seen} />
      ))}
      {absent.length > 0 && (
        <p class="note">Too few values around this time to draw a line: {absent.map(escapeName).join(", ")}.</p>
      )}
      {answer.truncated && <p class="note">There are more counters than the page shows; select processes.</p>}
    </div>
  );
}

export function Resources(): JSX.Element {
  // The end of a recording that is being made is looked up when it is asked: it is no other question because of it.
  const counters = useAnswer(
    () => ({ from: selection.value.from, to: selection.value.to, recording: selection.value.recording }),
    ({ recording }, signal) => {
      const { from, to } = range.peek();
      const values = counterValues(from, to, BINS);
      return api.statement({ name: "counters", values, recording, limit: MOST_ROWS }, signal);
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

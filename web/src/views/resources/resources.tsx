// SPDX-License-Identifier: MIT
// What processes, the machine and GPUs used: a plot for each counter, one cursor for all.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import type { QueryAnswer } from "../../api/types";
import { counterRows, counterValues, picturesOf } from "../../logic/counters";
import { Answered, Empty } from "../../shell/states";
import { range } from "../../state/page";
import { part, selection } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { Plot } from "./plot";

const BINS = 600;
const MOST_ROWS = 200_000;

function Plots({ answer }: { answer: QueryAnswer }): JSX.Element {
  const pids = part.value.pids ?? [];
  const pictures = useMemo(() => {
    const rows = answer.rows.filter(([, , , , pid]) => pids.length === 0 || pid === null || pids.includes(Number(pid)));
    return picturesOf(counterRows(rows));
  }, [answer, pids.join()]);
  if (pictures.length === 0) {
    return (
      <Empty
        what="No counter was recorded in this part"
        hint="fathom run records layer resource unless --layers leaves it out."
      />
    );
  }
  return (
    <div class="plots">
      {pictures.map((picture) => (
        <Plot key={picture.name} picture={picture} seen={range.value} />
      ))}
      {answer.truncated && <p class="note">There are more counters than the page shows; select processes.</p>}
    </div>
  );
}

export function Resources(): JSX.Element {
  const counters = useAnswer(
    () => ({ ...range.value, recording: selection.value.recording }),
    ({ from, to, recording }, signal) =>
      api.statement({ name: "counters", values: counterValues(from, to, BINS), recording, limit: MOST_ROWS }, signal),
  );
  return (
    <div class="view resources">
      <Answered of={counters} what="Asking for counters">
        {(answer) => <Plots answer={answer} />}
      </Answered>
    </div>
  );
}

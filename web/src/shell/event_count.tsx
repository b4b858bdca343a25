// SPDX-License-Identifier: MIT
// How many events a recording has: the rows of `events`, as SQL and the sentences of reports count them.
import type { JSX } from "preact";
import { api } from "../api/client";
import { counted, withThousands } from "../logic/units";
import { useAnswer } from "../views/parts/answer";

interface EventCountProps {
  recording: string;
  before?: string;
  words?: boolean; // says what it counts
  waiting?: string; // what stands there until it is known; absent: nothing
}

export function EventCount({ recording, before = "", words, waiting }: EventCountProps): JSX.Element | null {
  const asked = useAnswer(
    () => recording,
    (of, signal) => api.statement({ name: "event_count", recording: of }, signal),
  );
  const count = Number(asked.value?.rows[0]?.[0] ?? -1);
  if (count < 0) {
    const { value: standing } = asked.state;
    const refused = standing.kind === "failed" && !standing.error.passing;
    return waiting ? <span class="faint">{refused ? "unknown" : waiting}</span> : null;
  }
  return (
    <>
      {before}
      {words ? counted(count, "event") : withThousands(count)}
    </>
  );
}

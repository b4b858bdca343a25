// SPDX-License-Identifier: MIT
// Where in one file was read and written, over time.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import type { OffsetsAnswer } from "../../api/types";
import { mostOf } from "../../logic/bins";
import { escapeName } from "../../logic/escape";
import { binRange, heatCells, placeOfRow } from "../../logic/heat";
import { counted, humanBytes } from "../../logic/units";
import { Answered } from "../../shell/states";
import { inFile } from "../../state/page";
import { changeSetting, part, setting } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { goToFile, goToRange } from "../parts/go";
import { HeatMap } from "../parts/heat_map";

export const chosenFile = setting("io.file", "");

export function chooseFile(file: string | null): void {
  changeSetting("io.file", file, "push");
}

type Offsets = OffsetsAnswer & { from?: number; without_place?: number };

function Direction({
  title,
  cells,
  answer,
}: {
  title: string;
  cells: number[][];
  answer: Offsets;
}): JSX.Element | null {
  const heat = useMemo(() => heatCells(cells, mostOf(cells)), [cells]);
  if (heat.most === 0) return null;
  const from = answer.from ?? part.value.from ?? 0;
  return (
    <HeatMap
      title={title}
      heat={heat}
      rowName={(row) => `from ${humanBytes(row * answer.offset_bin)}`}
      from={from}
      width={answer.time_bin_ns}
      measure="bytes"
      rowHeight={5}
      logarithmic={false}
      leadsTo="leads to its place in the timeline"
      onCell={({ column }) => {
        const [begin, end] = binRange(from, answer.time_bin_ns, column);
        goToRange(begin, end, inFile.peek() ? {} : placeOfRow("file", chosenFile.peek()));
      }}
    />
  );
}

function OfFile({ file }: { file: string }): JSX.Element {
  const offsets = useAnswer(
    () => ({ file: chosenFile.value, part: part.value }),
    (question, signal) => api.offsets({ file: question.file, bins: 200 }, question.part, signal) as Promise<Offsets>,
  );
  return (
    <section aria-label="Places in the file">
      <h2>
        {escapeName(file)}
        <button type="button" onClick={() => void goToFile(file)}>
          Show in the timeline
        </button>
        <button type="button" onClick={() => chooseFile(null)}>
          Close
        </button>
      </h2>
      <Answered of={offsets} what="Looking up places in the file">
        {(answer) => (
          <>
            <Direction title="Read, by place in the file" cells={answer.read} answer={answer} />
            <Direction title="Written, by place in the file" cells={answer.write} answer={answer} />
            {(answer.without_place ?? 0) > 0 && (
              <p class="note">{counted(answer.without_place!, "call")} moved bytes at an unknown place.</p>
            )}
          </>
        )}
      </Answered>
    </section>
  );
}

export function Offsets(): JSX.Element | null {
  return chosenFile.value ? <OfFile file={chosenFile.value} /> : null;
}

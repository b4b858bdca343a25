// SPDX-License-Identifier: MIT
// Who moved how much when: threads, ranks, processes or files over time.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api, type HeatmapWish } from "../../api/client";
import type { HeatmapAnswer } from "../../api/types";
import { mostOf } from "../../logic/bins";
import { binRange, heatCells, placeOfRow } from "../../logic/heat";
import { counted } from "../../logic/units";
import { Answered, Empty } from "../../shell/states";
import { inFile } from "../../state/page";
import { part, setting } from "../../state/selection";
import { measureOfUnit } from "../flame/numbers";
import { useAnswer } from "../parts/answer";
import { Choice, options, Switch } from "../parts/choice";
import { goToRange } from "../parts/go";
import { HeatMap } from "../parts/heat_map";

const rows = setting("io.rows", "thread");
const what = setting("io.what", "bytes");
const category = setting("io.category", "all");
const logarithmic = setting("io.log", "");

// The server says too where the first bin begins and how many rows were left out.
type Heat = HeatmapAnswer & { from?: number; left_out?: number };

const WORDS: Record<string, string> = { bytes: "Bytes", calls: "Calls", time: "Time" };

function Map({ heat }: { heat: Heat }): JSX.Element {
  const cells = useMemo(() => heatCells(heat.cells, mostOf(heat.cells)), [heat]);
  const from = heat.from ?? part.value.from ?? 0;
  if (heat.rows.length === 0 || cells.most === 0) {
    return (
      <Empty
        what="No such call was recorded in this part"
        hint="Layers posix and stdio record what programs read and write: fathom run has both unless --layers leaves them out."
      />
    );
  }
  return (
    <>
      <HeatMap
        title={`${WORDS[what.value] ?? "Time"} by ${rows.value} over time`}
        heat={cells}
        rowName={(row) => heat.rows[row]!.name}
        from={from}
        width={heat.bin_ns}
        measure={measureOfUnit(heat.unit)}
        logarithmic={logarithmic.value === "1"}
        leadsTo="leads to its place in the timeline"
        onCell={({ column, row }) => {
          void goToCell(binRange(from, heat.bin_ns, column), rows.value, heat.rows[row]!.id);
        }}
      />
      {(heat.left_out ?? 0) > 0 && <p class="note">{counted(heat.left_out!, "row")} with less not shown.</p>}
    </>
  );
}

// Processes with their ranks. A page without a server knows them by their tracks; a server may not have its tracks yet.
async function rankedProcesses(recording: string | undefined) {
  if (inFile.peek()) return (await api.tracks(recording)).tracks;
  const { rows } = await api.query(
    "SELECT host, pid, rank FROM processes WHERE rank IS NOT NULL",
    recording || undefined,
  );
  return rows.map(([host, pid, rank]) => {
    return { kind: "process", host: host === null ? null : String(host), pid: Number(pid), rank: Number(rank) };
  });
}

async function goToCell([begin, end]: [number, number], kind: string, id: string): Promise<void> {
  const { recording, where } = part.peek();
  const tracks = kind === "rank" ? await rankedProcesses(recording) : [];
  const place = placeOfRow(kind, id, tracks);
  // The boxes of a page without a server do not tell files apart.
  if (inFile.peek()) delete place.where;
  else if (place.where && where && where !== place.where) place.where = `(${where}) AND ${place.where}`;
  goToRange(begin, end, place);
}

export function Activity(): JSX.Element {
  const heat = useAnswer(
    () => ({
      wish: { rows: rows.value, what: what.value, category: category.value, bins: 240, top: 64 } as HeatmapWish,
      part: part.value,
    }),
    ({ wish, part: of }, signal) => api.heatmap(wish, of, signal) as Promise<Heat>,
  );
  return (
    <section aria-label="Activity over time">
      <div class="tools" role="toolbar" aria-label="Heat map">
        <Choice
          name="io.rows"
          label="Rows"
          usual="thread"
          options={options(["thread", "threads"], ["rank", "ranks"], ["process", "processes"], ["file", "files"])}
        />
        <Choice
          name="io.what"
          label="Show"
          usual="bytes"
          options={options(["bytes", "bytes"], ["calls", "calls"], ["time", "time"])}
        />
        <Choice
          name="io.category"
          label="Calls"
          usual="all"
          options={options(["all", "all"], ["read", "reads"], ["write", "writes"])}
        />
        <Switch name="io.log" label="logarithmic" />
      </div>
      <Answered of={heat} what="Adding up calls">
        {(answer) => <Map heat={answer} />}
      </Answered>
    </section>
  );
}

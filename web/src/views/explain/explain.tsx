// SPDX-License-Identifier: MIT
// One call through the levels: from the program over the library and the kernel to the device.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import { escapeName } from "../../logic/escape";
import { rowsOf, tableOf, type Report, type ReportRow } from "../../logic/report";
import { humanNs, humanPercent, withThousands } from "../../logic/units";
import { Answered, Empty } from "../../shell/states";
import { changeSetting, part, selection, setting } from "../../state/selection";
import { layerColour } from "../../theme/layers";
import { shade } from "../../theme/theme";
import { useAnswer } from "../parts/answer";
import { Choice, type Option } from "../parts/choice";
import { goToPlace } from "../parts/go";
import { useReport } from "../parts/report_answer";
import { Words } from "../parts/report_tables";
import { SaveBar } from "../parts/save_bar";

const KEY = "where_the_time_went";
const call = setting("explain.call", "");
const file = setting("explain.file", "");

function Level({ row }: { row: ReportRow }): JSX.Element {
  const [share, depth] = [Number(row["share"] ?? 0), Number(row["depth"])];
  const layer = String(row["layer"] ?? "");
  return (
    <tr>
      <th scope="row" style={{ paddingLeft: `${depth * 20 + 4}px` }}>
        {escapeName(String(row["call"]))}
      </th>
      <td>{escapeName(layer)}</td>
      <td class="number">{row["calls"] === null ? "-" : withThousands(Number(row["calls"]))}</td>
      <td class="number">{humanNs(Number(row["time"] ?? 0))}</td>
      <td class="number">{humanPercent(share)}</td>
      <td class="share">
        <span style={{ width: `${Math.min(share, 100)}%`, background: layerColour(layer, shade.value) }} />
      </td>
    </tr>
  );
}

function Levels({ report }: { report: Report }): JSX.Element {
  const rows = rowsOf(report, KEY);
  if (rows.length === 0) return <Empty what="No recorded call matches" hint="Choose another call, or another part." />;
  return (
    <figure class="levels">
      <figcaption>
        Where the time of {escapeName(String(rows[0]!["call"]))} went
        <SaveBar name="Where the time went" table={() => tableOf(report, KEY)} />
      </figcaption>
      <table>
        <thead>
          <tr>
            <th scope="col">call</th>
            <th scope="col">layer</th>
            <th scope="col" class="number">
              calls
            </th>
            <th scope="col" class="number">
              time
            </th>
            <th scope="col" class="number">
              share
            </th>
            <th scope="col">of the call</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <Level key={at} row={row} />
          ))}
        </tbody>
      </table>
    </figure>
  );
}

// Calls that programs make of the library or the kernel, those with most time first.
const CALLS = `SELECT name FROM summary WHERE layer IN ('posix', 'stdio', 'syscall', 'cuda') GROUP BY name ORDER BY sum(dur) DESC LIMIT 100`;

function useCalls(): Option[] {
  const asked = useAnswer(
    () => selection.value.recording,
    async (of, signal) => (await api.query(CALLS, of || undefined, 100, signal)).rows.map(([name]) => String(name)),
  );
  const names = asked.value ?? [];
  const chosen = call.value && !names.includes(call.value) ? [call.value] : [];
  return [...chosen, ...names].map((name) => ({ value: name, title: escapeName(name) }));
}

function FileField(): JSX.Element {
  return (
    <label class="choice search">
      <span>File</span>
      <input
        type="text"
        value={file.value}
        placeholder="all files"
        spellcheck={false}
        onChange={(event) => changeSetting("explain.file", event.currentTarget.value || null, "push")}
      />
    </label>
  );
}

export function Explain(): JSX.Element {
  const report = useReport("explain", () => ({ call: call.value, file: file.value }));
  const calls = useCalls();
  const all = useMemo(() => [{ value: "", title: "the call with most time" }, ...calls], [calls.length, part.value]);
  return (
    <div class="view explain">
      <div class="tools" role="toolbar" aria-label="Explain">
        <Choice name="explain.call" label="Call" usual="" options={all} />
        <FileField />
        {call.value && (
          <button
            type="button"
            onClick={() => void goToPlace({ view: "timeline", where: `name = '${call.value.replaceAll("'", "''")}'` })}
          >
            Show in the timeline
          </button>
        )}
      </div>
      <Answered of={report} what="Following the call through the levels">
        {(answer) => (
          <>
            <Words report={answer} />
            <Levels report={answer} />
          </>
        )}
      </Answered>
    </div>
  );
}

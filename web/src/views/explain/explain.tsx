// SPDX-License-Identifier: MIT
// One call through the levels: from the program over the library and the kernel to the device.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import { escapeName } from "../../logic/escape";
import { sqlText } from "../../logic/sql_text";
import { Answered } from "../../shell/states";
import { inFile } from "../../state/page";
import { changeSetting, part, selection, setting } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { Choice, type Option } from "../parts/choice";
import { goToPlace } from "../parts/go";
import { useReport } from "../parts/report_answer";
import { Words } from "../parts/report_tables";
import { Levels } from "./levels";

const call = setting("explain.call", "");
const file = setting("explain.file", "");

// Calls that programs make of the library or the kernel, those with most time first.
function useCalls(): Option[] {
  const asked = useAnswer(
    () => selection.value.recording,
    async (of, signal) =>
      (await api.statement({ name: "calls", recording: of }, signal)).rows.map(([name]) => String(name)),
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
        {!inFile.value && <FileField />}
        {call.value && (
          <button
            type="button"
            onClick={() => void goToPlace({ view: "timeline", where: `name = ${sqlText(call.value)}` })}
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

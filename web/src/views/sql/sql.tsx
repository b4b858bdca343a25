// SPDX-License-Identifier: MIT
// Questions in SQL, judged and limited by the server as `fathom sql` is.
import type { JSX } from "preact";
import { useSignalEffect } from "@preact/signals";
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import { asPandas } from "../../logic/pandas";
import { Answered } from "../../shell/states";
import { page, recording } from "../../state/page";
import { selection } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { placeForCommands } from "../parts/command_place";
import { Editor } from "./editor";
import { Result } from "./result";
import { Schema } from "./schema";
import { asked, draft, earlier, EXAMPLES, run, runs } from "./state";

// A browser has no clipboard for a page that came unencrypted from another machine, and may refuse it elsewhere.
async function copied(text: string): Promise<boolean> {
  try {
    await (navigator.clipboard as Clipboard | undefined)!.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function CopyAsPandas(): JSX.Element {
  const [said, setSaid] = useState("");
  const [byHand, setByHand] = useState("");
  const copy = async (): Promise<void> => {
    const text = asPandas(recording.value ? placeForCommands(recording.value) : "run.fathom", draft.value);
    const done = await copied(text);
    setSaid(done ? "copied" : "the browser does not let this page copy: press Ctrl+C");
    setByHand(done ? "" : text);
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        Copy as pandas
      </button>
      <span role="status">{said}</span>
      {byHand && (
        <textarea
          readOnly
          rows={4}
          cols={80}
          aria-label="The question for pandas"
          value={byHand}
          ref={(field) => {
            field?.focus();
            field?.select();
          }}
        />
      )}
    </>
  );
}

function Earlier(): JSX.Element {
  const all = earlier.value.length > 0 ? earlier.value : EXAMPLES;
  return (
    <label class="choice search">
      <span>{earlier.value.length > 0 ? "Earlier" : "Examples"}</span>
      <select
        value=""
        onChange={(event) => {
          if (event.currentTarget.value) draft.value = event.currentTarget.value;
        }}
      >
        <option value="">choose</option>
        {all.map((sql) => (
          <option key={sql} value={sql}>
            {sql.slice(0, 100)}
          </option>
        ))}
      </select>
    </label>
  );
}

const HINT = "Write a question and press Ctrl+Enter. Views and columns are listed as you type, and below.";

// More would keep the page busy for longer than anybody wants to wait for a click.
const MOST_ROWS = 10_000;

function Asking(): JSX.Element {
  const answer = useAnswer(
    () => ({ sql: asked.value, recording: selection.value.recording, run: runs.value }),
    ({ sql, recording: of }, signal) => {
      const limit = Math.min(page.value?.limits.rows ?? MOST_ROWS, MOST_ROWS);
      return api.query(sql, of || undefined, limit, signal);
    },
  );
  return (
    <Answered of={answer} what="Asking">
      {(rows) => <Result answer={rows} />}
    </Answered>
  );
}

export function Sql(): JSX.Element {
  const schema = useAnswer(
    () => selection.value.recording,
    (of, signal) => api.schema(of || undefined, signal),
  );
  useSignalEffect(() => {
    draft.value = asked.value || draft.peek();
  });
  return (
    <div class="view sql">
      <Editor schema={schema.value ?? []} />
      <div class="tools" role="toolbar" aria-label="SQL">
        <button type="button" onClick={() => run(draft.value)}>
          Run
        </button>
        <CopyAsPandas />
        <Earlier />
      </div>
      {asked.value ? <Asking /> : <p class="note">{HINT}</p>}
      <Schema schema={schema.value ?? []} />
    </div>
  );
}

// SPDX-License-Identifier: MIT
// What can be asked for: views, their columns and what these mean. A click writes a first question.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SchemaView } from "../../api/types";
import { escapeName } from "../../logic/escape";
import { counted } from "../../logic/units";
import { draft } from "./state";

// Columns become part of the document when somebody opens the view: all of them would be a thousand rows.
function View({ view, columns }: SchemaView): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {escapeName(view)} <span class="faint">{counted(columns.length, "column")}</span>
      </summary>
      <dl>
        {(open ? columns : []).map(({ name, type, help }) => (
          <div key={name}>
            <dt>
              {escapeName(name)} <span class="faint">{escapeName(type)}</span>
            </dt>
            <dd>{escapeName(help)}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="link" onClick={() => (draft.value = `FROM ${view} LIMIT 100`)}>
        Write FROM {escapeName(view)}
      </button>
    </details>
  );
}

export function Schema({ schema }: { schema: readonly SchemaView[] }): JSX.Element | null {
  if (schema.length === 0) return null;
  return (
    <section aria-label="What can be asked for">
      <h2>What can be asked for</h2>
      <div class="schema">
        {schema.map((each) => (
          <View key={each.view} {...each} />
        ))}
      </div>
    </section>
  );
}

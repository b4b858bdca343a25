// SPDX-License-Identifier: MIT
// A condition in SQL as part of the selection: "events where bytes > 4096". The server is asked first whether it understands it.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api/client";
import { escapeName } from "../logic/escape";
import { select, selection } from "../state/selection";

// Whether the field is wanted where nothing is selected yet.
export const whereWanted = signal(false);

export function showWhere(): void {
  whereWanted.value = true;
  const field = document.getElementById("where");
  if (field instanceof HTMLInputElement) field.select();
}

// A line of its own: a comment at the end of the condition does not hide the bracket.
async function check(condition: string): Promise<void> {
  await api.query(`SELECT 1 FROM events WHERE (${condition}\n) LIMIT 0`, selection.peek().recording || undefined);
}

// What is written is not what is selected until the server has understood it: views would ask with half a condition at
// each letter.
export function WhereField(): JSX.Element {
  const chosen = selection.value.where;
  const [failure, setFailure] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current) field.current.value = chosen;
    setFailure("");
  }, [chosen]);
  useEffect(() => {
    if (whereWanted.peek() && selection.peek().where === "") field.current?.focus();
  }, []);
  const apply = async (): Promise<void> => {
    const condition = field.current!.value.trim();
    try {
      if (condition !== "") await check(condition);
      setFailure("");
      select({ where: condition });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form
      class="where-field"
      onSubmit={(event) => {
        event.preventDefault();
        void apply();
      }}
    >
      <label for="where">events where</label>
      <input
        id="where"
        ref={field}
        type="text"
        placeholder="bytes > 4096 (SQL; Enter selects)"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={failure !== ""}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          whereWanted.value = false;
          event.currentTarget.blur();
        }}
      />
      {failure && <span role="alert">{escapeName(failure)}</span>}
    </form>
  );
}

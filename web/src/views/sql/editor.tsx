// SPDX-License-Identifier: MIT
// Where SQL is written. Names are completed: Ctrl+Space or typing opens the list, arrows choose, Tab
// or Enter takes. Ctrl+Enter runs.
import type { JSX, RefObject, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { complete, type Choice, type Completion, type SchemaView } from "../../logic/sql_complete";
import { escapeName } from "../../logic/escape";
import { draft, run } from "./state";

interface ListProps {
  choices: readonly Choice[];
  chosen: number;
  onTake: (choice: Choice) => void;
}

function List({ choices, chosen, onTake }: ListProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <ul class="completions" role="listbox" id="completions" aria-label="Completions" ref={list}>
      {choices.map((choice, at) => (
        <li
          key={`${choice.kind} ${choice.text}`}
          id={`completion-${at}`}
          role="option"
          aria-selected={at === chosen}
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(choice);
          }}
        >
          <b>{escapeName(choice.text)}</b> <span>{escapeName(choice.help)}</span>
        </li>
      ))}
    </ul>
  );
}

const NOTHING: Completion = { from: 0, choices: [] };

// A name that is no plain word is written in quotes.
function written(choice: Choice): string {
  if (choice.kind === "keyword" || /^[A-Za-z_][A-Za-z0-9_]*$/.test(choice.text)) return choice.text;
  return `"${choice.text.replaceAll('"', '""')}"`;
}

interface CompletionList {
  choices: readonly Choice[];
  chosen: number;
  suggest: (always: boolean) => void; // always: also where nothing of a name is written yet
  take: (choice: Choice) => void;
  close: () => void;
  onKey: (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => boolean; // false: no key of the list's
}

// The list of names that fit where the cursor is in `field`.
function useCompletions(field: RefObject<HTMLTextAreaElement | null>, schema: readonly SchemaView[]): CompletionList {
  const [open, setOpen] = useState<Completion>(NOTHING);
  const [chosen, setChosen] = useState(0);
  const suggest = (always: boolean): void => {
    const { value, selectionStart: cursor } = field.current!;
    const found = complete(value, cursor, schema);
    const wanted = always || cursor > found.from || value[cursor - 1] === ".";
    setOpen(wanted ? found : NOTHING);
    setChosen(0);
  };
  // Who was quicker than the schema is shown what it has.
  useEffect(() => {
    if (document.activeElement === field.current) suggest(false);
  }, [schema]);
  const take = (choice: Choice): void => {
    const area = field.current!;
    const text = written(choice);
    const after = area.value.slice(area.selectionStart);
    draft.value = area.value.slice(0, open.from) + text + after;
    setOpen(NOTHING);
    const cursor = open.from + text.length;
    requestAnimationFrame(() => area.setSelectionRange(cursor, cursor));
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): boolean => {
    const count = open.choices.length;
    if (count === 0) return false;
    if (event.key === "ArrowDown") setChosen((chosen + 1) % count);
    else if (event.key === "ArrowUp") setChosen((chosen + count - 1) % count);
    else if (event.key === "Tab" || event.key === "Enter") take(open.choices[chosen]!);
    else if (event.key === "Escape") setOpen(NOTHING);
    else return false;
    return true;
  };
  return { choices: open.choices, chosen, suggest, take, close: () => setOpen(NOTHING), onKey };
}

export function Editor({ schema }: { schema: readonly SchemaView[] }): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useCompletions(field, schema);
  const onKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key === "Enter") {
      list.close();
      run(draft.value);
    } else if (control && event.key === " ") list.suggest(true);
    else if (control || !list.onKey(event)) return;
    event.preventDefault();
  };
  const listed = list.choices.length > 0;
  return (
    <div class="editor">
      <textarea
        ref={field}
        rows={6}
        value={draft.value}
        aria-label="SQL"
        aria-autocomplete="list"
        aria-controls={listed ? "completions" : undefined}
        aria-activedescendant={listed ? `completion-${list.chosen}` : undefined}
        spellcheck={false}
        autocomplete="off"
        placeholder="SELECT … FROM events   (Ctrl+Enter runs, Ctrl+Space completes)"
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          list.suggest(false);
        }}
        onBlur={list.close}
        onKeyDown={onKey}
      />
      {listed && <List choices={list.choices} chosen={list.chosen} onTake={list.take} />}
    </div>
  );
}

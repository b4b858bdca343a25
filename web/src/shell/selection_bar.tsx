// SPDX-License-Identifier: MIT
// What is selected, each part with a button that lets it go. Absent while everything is and nobody asks for a
// condition; a view that does not follow it
// says so.
import type { JSX } from "preact";
import { escapeName } from "../logic/escape";
import { humanNs } from "../logic/units";
import { isLimited, select, selectEverything, selection, type Selection } from "../state/selection";
import { inFile, range } from "../state/page";
import { WhereField, whereWanted } from "./where_field";
import { viewOf } from "./views";

interface Chip {
  words: string;
  without: Partial<Selection>;
}

export function chipsOf(chosen: Selection, seen: { from: number; to: number }): Chip[] {
  const chips: Chip[] = [];
  if (chosen.from !== null || chosen.to !== null) {
    const words = `${humanNs(seen.from)} to ${humanNs(seen.to)} (${humanNs(seen.to - seen.from)})`;
    chips.push({ words, without: { from: null, to: null } });
  }
  const add = <K extends "hosts" | "pids" | "tids" | "layers">(key: K, name: string): void => {
    for (const item of chosen[key]) {
      const without = { [key]: (chosen[key] as readonly unknown[]).filter((each) => each !== item) };
      chips.push({ words: `${name} ${escapeName(String(item))}`, without });
    }
  };
  add("hosts", "host");
  add("pids", "process");
  add("tids", "thread");
  add("layers", "layer");
  if (chosen.where) chips.push({ words: `where ${escapeName(chosen.where)}`, without: { where: "" } });
  return chips;
}

export function SelectionBar(): JSX.Element | null {
  const chosen = selection.value;
  const limited = isLimited(chosen);
  if (!limited && !whereWanted.value) return null;
  const view = viewOf(chosen.view);
  if (view.whole) {
    return limited ? (
      <section class="selection" aria-label="Selection">
        {view.title} is about whole recordings. What is selected holds in the other views.
      </section>
    ) : null;
  }
  return (
    <section class="selection" aria-label="Selection">
      <span>Selected:{limited ? "" : " everything"}</span>
      {chipsOf(chosen, range.value).map((chip) => (
        <span class="chip" key={chip.words}>
          {chip.words}
          <button type="button" aria-label={`Remove ${chip.words}`} onClick={() => select(chip.without)}>
            ×
          </button>
        </span>
      ))}
      {limited && (
        <button type="button" onClick={selectEverything}>
          Select everything
        </button>
      )}
      {!inFile.value && <WhereField />}
    </section>
  );
}

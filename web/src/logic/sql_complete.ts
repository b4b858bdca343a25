// SPDX-License-Identifier: MIT
// What may stand where the cursor is: views behind FROM, columns of the views that the statement
// reads, functions, keywords.
import { FUNCTIONS, KEYWORDS, plainName, tokensOf, viewsRead } from "./sql_words";

export interface SchemaView {
  view: string;
  columns: { name: string; type: string; help?: string }[];
}

export interface Choice {
  text: string;
  kind: "view" | "column" | "function" | "keyword";
  help: string;
}

export interface Completion {
  from: number; // what a choice replaces: from here to the cursor
  choices: Choice[];
}

const MOST = 40;

// Whether the cursor stands in a text or a comment, where nothing is completed.
function isInside(sql: string, cursor: number): boolean {
  const last = tokensOf(sql.slice(0, cursor)).at(-1);
  if (!last || last.at + last.text.length < cursor) return false;
  const open = last.kind === "comment" && (last.text.startsWith("--") || !last.text.endsWith("*/"));
  return open || (last.kind === "text" && (last.text.length === 1 || !last.text.endsWith("'")));
}

function columnsOf(schema: readonly SchemaView[], names: Iterable<string>): Choice[] {
  const wanted = new Set(names);
  const seen = new Set<string>();
  const choices: Choice[] = [];
  for (const { view, columns } of schema) {
    if (!wanted.has(view)) continue;
    for (const { name, type, help } of columns) {
      if (seen.has(name)) continue;
      seen.add(name);
      choices.push({ text: name, kind: "column", help: help ? `${type}: ${help}` : `${type}, of ${view}` });
    }
  }
  return choices;
}

function viewChoices(schema: readonly SchemaView[]): Choice[] {
  return schema.map(({ view, columns }) => {
    return { text: view, kind: "view", help: columns.map((column) => column.name).join(", ") };
  });
}

function everywhere(): Choice[] {
  const functions = FUNCTIONS.map((text): Choice => ({ text, kind: "function", help: "function" }));
  return [...functions, ...KEYWORDS.map((text): Choice => ({ text, kind: "keyword", help: "" }))];
}

// Names that begin with the word stand before names that contain it.
function fitting(choices: Choice[], word: string): Choice[] {
  const small = word.toLowerCase();
  const begins = choices.filter((choice) => choice.text.toLowerCase().startsWith(small));
  if (small === "") return begins.slice(0, MOST);
  const contains = choices.filter((choice) => choice.text.toLowerCase().indexOf(small) > 0);
  const found = [...begins, ...contains].slice(0, MOST);
  return found.length === 1 && found[0]!.text === word ? [] : found;
}

// By the words of the statement and no parser, so that half a statement completes as well as a whole one.
export function complete(sql: string, cursor: number, schema: readonly SchemaView[]): Completion {
  const before = sql.slice(0, cursor);
  const word = /[\p{L}\p{N}_]*$/u.exec(before)![0];
  const from = cursor - word.length;
  if (isInside(sql, cursor)) return { from: cursor, choices: [] };
  const read = viewsRead(sql);
  const owner = /([\p{L}_][\p{L}\p{N}_]*|"[^"]*")\.$/u.exec(before.slice(0, from))?.[1];
  if (owner !== undefined) {
    const view = read.get(plainName(owner));
    return { from, choices: fitting(columnsOf(schema, view ? [view] : []), word) };
  }
  if (/\b(from|join)\s+$/i.test(before.slice(0, from))) {
    return { from, choices: fitting(viewChoices(schema), word) };
  }
  const choices = [...columnsOf(schema, read.values()), ...viewChoices(schema), ...everywhere()];
  return { from, choices: fitting(choices, word) };
}

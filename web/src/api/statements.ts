// SPDX-License-Identifier: MIT
// Questions that the page asks in SQL. Their texts are in web/questions.json, where the program finds them too when it writes
// a page that holds the answers.
import questions from "../../questions.json";
import { sqlText } from "../logic/sql_text";

export type StatementName = keyof typeof questions.statements;
type Value = string | number;
export type Values = Readonly<Record<string, Value | readonly Value[]>>;

function inSql(value: Value): string {
  return typeof value === "number" ? String(Math.round(value)) : sqlText(value);
}

// A {name} in the text is filled with a whole number, a text in quotes, or a list of these; a {=name} with SQL.
// src/serve/page/statement_text.h reads the same texts.
export function filledText(text: string, values: Values): string {
  return text.replace(/\{(=?)(\w+)\}/g, (_place, plain: string, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`the statement needs ${key}`);
    if (typeof value === "object") return `[${value.map(inSql).join(", ")}]`;
    return plain ? String(value) : inSql(value);
  });
}

export function statementText(name: StatementName, values: Values = {}): string {
  return filledText(questions.statements[name], values);
}

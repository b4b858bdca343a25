// SPDX-License-Identifier: MIT
// Questions that the page asks in SQL. Their texts are in web/questions.json, where the program finds them too when it writes
// a page that holds the answers.
import questions from "../../questions.json";
import { sqlText } from "../logic/places";

export type StatementName = keyof typeof questions.statements;
export type Values = Readonly<Record<string, string | number>>;

// A {name} in the text is filled with a whole number, or a text in quotes; a {=name} with SQL.
export function statementText(name: StatementName, values: Values = {}): string {
  return questions.statements[name].replace(/\{(=?)(\w+)\}/g, (_place, plain: string, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`${name} needs ${key}`);
    if (plain) return String(value);
    return typeof value === "number" ? String(Math.round(value)) : sqlText(value);
  });
}

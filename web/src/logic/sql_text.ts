// SPDX-License-Identifier: MIT
// A name as a text in SQL.

export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

// SPDX-License-Identifier: MIT
// SQL as far as an editor has to understand it: words, and which views a statement reads.

export type TokenKind = "word" | "text" | "number" | "comment" | "sign";

export interface Token {
  kind: TokenKind;
  text: string;
  at: number;
}

const TOKENS =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>'(?:[^']|'')*(?:'|$))|(?<word>[\p{L}_][\p{L}\p{N}_]*|"(?:[^"]|"")*(?:"|$))|(?<number>\d[\d._eE]*)|(?<sign>[^\s])/gu;

export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const match of sql.matchAll(TOKENS)) {
    const kinds = match.groups as Record<TokenKind, string | undefined>;
    const kind = (Object.keys(kinds) as TokenKind[]).find((name) => kinds[name] !== undefined);
    if (kind) tokens.push({ kind, text: match[0], at: match.index });
  }
  return tokens;
}

export const KEYWORDS = [
  "SELECT",
  "FROM",
  "WHERE",
  "GROUP BY",
  "ORDER BY",
  "LIMIT",
  "HAVING",
  "JOIN",
  "LEFT JOIN",
  "ON",
  "USING",
  "AS",
  "WITH",
  "UNION ALL",
  "DISTINCT",
  "CASE",
  "WHEN",
  "THEN",
  "ELSE",
  "END",
  "AND",
  "OR",
  "NOT",
  "IN",
  "LIKE",
  "BETWEEN",
  "IS NULL",
  "IS NOT NULL",
  "ASC",
  "DESC",
  "FILTER",
  "OVER",
  "PARTITION BY",
  "CAST",
  "UNNEST",
] as const;

export const FUNCTIONS = [
  "count",
  "sum",
  "min",
  "max",
  "avg",
  "median",
  "quantile_cont",
  "arg_max",
  "arg_min",
  "coalesce",
  "round",
  "floor",
  "greatest",
  "least",
  "lower",
  "regexp_matches",
  "string_agg",
  "list",
  "histogram",
  "approx_count_distinct",
] as const;

const KEYWORD_WORDS = new Set(KEYWORDS.flatMap((keyword) => keyword.split(" ")));

export function isKeyword(word: string): boolean {
  return KEYWORD_WORDS.has(word.toUpperCase());
}

export function plainName(word: string): string {
  return word.startsWith('"') ? word.replace(/^"|"$/g, "").replaceAll('""', '"') : word;
}

// name or alias -> view, of every FROM and JOIN.
export function viewsRead(sql: string): Map<string, string> {
  const tokens = tokensOf(sql).filter((token) => token.kind !== "comment");
  const views = new Map<string, string>();
  tokens.forEach((token, i) => {
    const view = tokens[i + 1];
    if (!/^(from|join)$/i.test(token.text) || view?.kind !== "word") return;
    const behind = tokens[i + 2]?.text.toUpperCase() === "AS" ? tokens[i + 3] : tokens[i + 2];
    const name = plainName(view.text);
    views.set(name, name);
    if (behind?.kind === "word" && !isKeyword(behind.text)) views.set(plainName(behind.text), name);
  });
  return views;
}

// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { statementText } from "../api/statements";
import { likeText } from "./find";

test("what is searched for stays a text in SQL", () => {
  assert.equal(likeText("it's 100%_"), String.raw`%it's 100\%\_%`);
  const sql = (name: "next_match" | "match_before"): string =>
    statementText(name, { text: "", like: likeText("it's {time}"), time: 10.4, where: "(true)" });
  assert.match(
    sql("next_match"),
    /ILIKE '%it''s \{time\}%' ESCAPE '\\' AND \(\(true\)\) AND ts > 10 ORDER BY ts LIMIT 1$/,
  );
  assert.match(sql("match_before"), /ts < 10 ORDER BY ts DESC LIMIT 1$/);
  assert.throws(() => statementText("next_match", { like: "", where: "true" }), /needs time/);
});

// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { likeText, nextMatchSql } from "./find";

test("what is searched for stays a text in SQL", () => {
  assert.equal(likeText("it's 100%_"), String.raw`'%it''s 100\%\_%' ESCAPE '\'`);
  assert.match(nextMatchSql("read", 10.4, false), /ts > 10 ORDER BY ts ASC LIMIT 1$/);
  assert.match(nextMatchSql("read", 10, true), /ts < 10 ORDER BY ts DESC LIMIT 1$/);
});

// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { asPandas } from "./pandas";
import { complete, type SchemaView } from "./sql_complete";
import { tokensOf, viewsRead } from "./sql_words";

const SCHEMA: SchemaView[] = [
  {
    view: "events",
    columns: [
      { name: "ts", type: "BIGINT" },
      { name: "dur", type: "BIGINT", help: "how long it took" },
    ],
  },
  {
    view: "counters",
    columns: [
      { name: "ts", type: "BIGINT" },
      { name: "value", type: "DOUBLE" },
    ],
  },
];

function choices(sqlWithCursor: string): string[] {
  const cursor = sqlWithCursor.indexOf("|");
  return complete(sqlWithCursor.replace("|", ""), cursor, SCHEMA).choices.map((choice) => choice.text);
}

test("words, texts and comments are told apart", () => {
  const kinds = tokensOf("SELECT 'it''s' -- x\n, \"a b\" /* y */ 1.5").map((token) => `${token.kind} ${token.text}`);
  assert.deepEqual(kinds, [
    "word SELECT",
    "text 'it''s'",
    "comment -- x",
    "sign ,",
    'word "a b"',
    "comment /* y */",
    "number 1.5",
  ]);
});

test("views and their aliases are known", () => {
  const views = viewsRead("SELECT * FROM events e JOIN counters AS c ON true -- FROM nothing\nWHERE 'FROM text' <> ''");
  assert.deepEqual(
    [...views],
    [
      ["events", "events"],
      ["e", "events"],
      ["counters", "counters"],
      ["c", "counters"],
    ],
  );
  assert.deepEqual([...viewsRead("FROM events WHERE ts > 1").keys()], ["events"]);
});

test("behind FROM stand views, behind a dot the columns of that view", () => {
  assert.deepEqual(choices("SELECT * FROM |"), ["events", "counters"]);
  assert.deepEqual(choices("SELECT * FROM ev|"), ["events"]);
  assert.deepEqual(choices("SELECT c.| FROM events e, x JOIN counters c"), ["ts", "value"]);
  assert.deepEqual(choices("SELECT z.| FROM events"), []);
});

test("columns of the views that are read come first; a name that is complete needs no choice", () => {
  assert.equal(choices("SELECT d| FROM events")[0], "dur");
  assert.ok(choices("SELECT sel|").includes("SELECT"));
  assert.ok(!choices("SELECT val| FROM events").includes("value"));
  assert.deepEqual(choices("SELECT valu| FROM counters"), ["value"]);
  assert.deepEqual(choices("SELECT value| FROM counters"), []);
});

test("nothing is completed in texts and comments", () => {
  assert.deepEqual(choices("SELECT 'd|"), []);
  assert.deepEqual(choices("-- d|"), []);
  assert.deepEqual(choices("/* d|"), []);
  assert.ok(choices("SELECT 'x' d| FROM events").length > 0);
});

test("a question becomes a Python program that reads back what it was", () => {
  assert.ok(asPandas("run.fathom", "SELECT 1").includes('fathom.open("run.fathom")'));
  assert.ok(asPandas("a", "SELECT 1\nFROM x").includes('"""\nSELECT 1\nFROM x\n"""'));
  assert.ok(asPandas('a"b\\', 'SELECT "x"').includes('fathom.open("a\\"b\\\\")'));
  assert.ok(asPandas("a", 'SELECT "x\n"').includes('"SELECT \\"x\\n\\""'));
});

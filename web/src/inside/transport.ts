// SPDX-License-Identifier: MIT
// Answers questions from the data that the document holds. What is not there is refused with the command that knows it: no
// number of the whole run is ever shown for a part of it.
import { Refusal, type AskedStatement, type Params, type Transport } from "../api/transport";
import type { EventFacts, QueryAnswer, Track, TrackId, TrackList } from "../api/types";
import { rowsOfPart, type CounterPart } from "../logic/counter_lines";
import { matcher } from "../state/search";
import { InsideBoxes, type Lane } from "./boxes";
import type { InsideAnswer, InsideData } from "./data";

// How finely an answer was asked for: the file has each once.
const detail = ["recording", "min", "bins", "offset_bins", "top", "width"];
const ofPart = ["from", "to", "host", "pid", "tid", "layers", "where"];
const usual: Readonly<Record<string, string>> = { invert: "0", order: "tree", category: "all" };

// The part of a question that tells it apart: "/flame?weight=time".
export function keyOf(path: string, said: Iterable<readonly [string, string]>): string {
  const rest = [...said].filter(([name, value]) => value !== "" && !detail.includes(name) && usual[name] !== value);
  rest.sort(([a], [b]) => (a < b ? -1 : 1));
  return `${path}?${new URLSearchParams(rest.map(([name, value]) => [name, value])).toString()}`;
}

function keyOfAsked(asked: string): string {
  const [path = "", query = ""] = asked.split("?");
  return keyOf(path, new URLSearchParams(query));
}

function textsOf(params: Params): [string, string][] {
  return Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined ? [] : [[name, Array.isArray(value) ? value.join(",") : String(value)]],
  );
}

// Stands where HttpTransport stands: views do not know that there is no server. Boxes are laid out when the timeline is
// first asked for, since most looks at a file never ask.
export class InsideTransport implements Transport {
  readonly level: number; // boxes are of 2^level ns; 0: single events
  private readonly answers: Map<string, InsideAnswer>;
  private boxesMade: InsideBoxes | null = null;

  constructor(private readonly data: InsideData) {
    this.answers = new Map(data.answers.map((each) => [keyOfAsked(each.asked), each]));
    this.level = data.timeline.level;
  }

  get(path: string, params: Params): Promise<unknown> {
    return this.promised(() => {
      if (path === "/timeline") return this.timeline(params);
      if (path === "/event") return this.event(Number(params["row"]));
      // Its boxes know their layer, and nothing else that a condition could speak of.
      if (path === "/tracks" && params["where"]) throw this.wholeRunOnly();
      if (path === "/tracks") return this.tracks();
      const said = textsOf(params);
      if (said.some(([name, value]) => ofPart.includes(name) && value !== "")) throw this.wholeRunOnly();
      return this.answer(keyOf(path, said));
    });
  }

  post(): Promise<unknown> {
    return this.promised(() => {
      throw this.notInside();
    });
  }

  statement({ name, values }: AskedStatement): Promise<QueryAnswer> {
    return this.promised(() => {
      if (name === "next_match" || name === "match_before") {
        return this.match(String(values?.["text"]), Number(values?.["time"]), name === "match_before");
      }
      if (name === "busiest") return this.busiest(String(values?.["said"]));
      if (name === "file_time") {
        return rowsWhere(this.table("file_times"), ([file]) => file === values?.["file"]);
      }
      if (name === "counters") {
        const counters = this.table(name);
        return { ...counters, rows: rowsOfPart(counters.rows, (values ?? {}) as CounterPart) };
      }
      if (name === "calls") {
        return rowsWhere(this.table("calls"), ([call]) =>
          this.answers.has(keyOf("/report/explain", [["call", String(call)]])),
        );
      }
      return this.table(name);
    });
  }

  // Of the places that rules name: the file has their bins, by what the rule says.
  private busiest(said: string): QueryAnswer {
    const all = this.table("busiest");
    return { ...all, rows: all.rows.filter(([place]) => place === said).map(([, ...bin]) => bin) };
  }

  private async promised<T>(make: () => T): Promise<T> {
    return Promise.resolve().then(make);
  }

  private answer(key: string): unknown {
    const found = this.answers.get(key);
    if (!found) throw this.notInside();
    if (found.status === 200) return found.answer;
    const said = (found.answer as { error?: string } | null)?.error;
    throw new Refusal(said ?? `The file says ${found.status}`, found.status);
  }

  private table(name: string): QueryAnswer {
    const found = this.data.statements[name];
    if (!found) throw this.notInside();
    return found;
  }

  private get boxes(): InsideBoxes {
    this.boxesMade ??= new InsideBoxes(this.data.timeline.windows);
    return this.boxesMade;
  }

  private timeline(params: Params): unknown {
    const [from, to, width] = [params["from"], params["to"], params["width"]].map(Number);
    const layers = (params["layers"] ?? []) as readonly string[];
    return this.boxes.window(from ?? 0, to ?? 1, width ?? 1, (params["tracks"] ?? []) as readonly TrackId[], layers);
  }

  // A recording that was exported while it was being made had its index half done, perhaps; nobody works on it any more.
  private tracks(): TrackList {
    const { building: _, lost, ...rest } = this.answer("/tracks?") as TrackList;
    const left = this.data.timeline.left_out;
    const words = { reason: "the file has no room for these tracks", count: left };
    return { ...rest, lost: [...(lost ?? []), ...(left > 0 ? [words] : [])] };
  }

  private match(text: string, time: number, back: boolean): QueryAnswer {
    const found = this.boxes.nextMatch(matcher(text) ?? (() => false), time, back);
    const facts = (lane: Lane, at: number) => [lane.start[at]!, lane.dur[at]!, this.tidOf(lane.track), lane.depth];
    const rows = found ? [facts(found.lane, found.at)] : [];
    return { columns: [], rows, truncated: false, elapsed_ns: 0 };
  }

  private trackOf(id: TrackId): Track | undefined {
    return this.tracks().tracks.find((track) => track.id === id);
  }

  private tidOf(id: TrackId): number | null {
    return this.trackOf(id)?.tid ?? null;
  }

  private event(row: number): EventFacts {
    const found = this.boxes.event(row);
    if (!found) throw this.notInside();
    const { host, pid, tid } = this.trackOf(found.lane.track) ?? { host: null, pid: null, tid: null };
    return {
      event: { ...this.factsOf(found.lane, found.at), host, pid, tid },
      parents: found.around.map(({ lane, at }) => this.factsOf(lane, at)),
      flows: [],
    };
  }

  private factsOf(lane: Lane, at: number): EventFacts["event"] {
    return {
      row: lane.row[at]!,
      track: lane.track,
      layer: this.boxes.names[lane.layer[at]!] ?? "",
      name: this.boxes.names[lane.name[at]!] ?? "",
      ts: lane.start[at]!,
      dur: lane.dur[at]!,
      depth: lane.depth,
    };
  }

  private wholeRunOnly(): Refusal {
    const whole = this.data.is_part ? "what was exported as a whole" : "the whole run";
    return new Refusal(
      `This file has the numbers of ${whole} only. Select everything again (key x), or ask for a part with: fathom view ${this.data.recording}`,
      404,
    );
  }

  private notInside(): Refusal {
    return new Refusal(`This file does not hold that. It is shown by: fathom view ${this.data.recording}`, 404);
  }
}

function rowsWhere(answer: QueryAnswer, wanted: (row: QueryAnswer["rows"][number]) => boolean): QueryAnswer {
  return { ...answer, rows: answer.rows.filter(wanted) };
}

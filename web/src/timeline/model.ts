// SPDX-License-Identifier: MIT
// The state of the timeline on screen, and what can be done to it. Components read its signals; only here they change.
import { batch, computed, signal, untracked, type ReadonlySignal } from "@preact/signals";
import { Asked } from "../api/asked";
import { api, type EventPart } from "../api/client";
import type { EventFacts, Track, TrackId, TrackList } from "../api/types";
import { recording, revision } from "../state/page";
import { changeSetting, select, selection } from "../state/selection";
import { around, clamped, panned, shows, spanOf, timeAt, zoomed, type Camera } from "./camera";
import { hitAt, type Hit, type Scene } from "./hit";
import { Loader } from "./loader";
import type { Arrow } from "./picture";
import { ancestorsOf, between, groupOf, isCounterGroup, rowsOf, totalHeight, type Row } from "./rows";
import { withEdge } from "./step";
import { TileStore } from "./tiles";
import { withTracks } from "./track_selection";
import type { Refusal } from "../api/transport";
import type { Size } from "../draw/canvas";

const lateNs = 3e9;
const indexMs = 800;
const rememberAfterMs = 250; // browsers refuse more than some changes of the address a second

function toggled(set: ReadonlySet<TrackId>, id: TrackId): Set<TrackId> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

// One for each time that the view is opened. Functions called by an effect say so: they read signals, and run again when
// one of them changes.
export class TimelineModel {
  readonly tracks = new Asked<TrackList>();
  readonly event = new Asked<EventFacts>();
  readonly flows = new Asked<Arrow[]>();
  readonly camera = signal<Camera>({ from: 0, to: 1 });
  readonly size = signal<Size>({ width: 0, height: 0 }); // of the canvas
  readonly top = signal(0); // scrolled so far down
  readonly collapsed = signal<ReadonlySet<TrackId>>(new Set());
  readonly opened = signal<ReadonlySet<TrackId>>(new Set()); // all levels; groups of counters
  readonly pointer = signal<{ x: number; y: number } | null>(null); // on the canvas, unless it drags
  readonly chosen = signal<Hit | null>(null);
  readonly measure = signal<Camera | null>(null);
  readonly dragged = signal<Camera | null>(null); // a range that is being selected
  readonly showFlows = signal(false);
  readonly error = signal<Refusal | null>(null);
  readonly busy = signal(true); // something on screen, or beside it, is on its way
  readonly drawn = signal(false); // something of this recording has arrived
  readonly arrived = signal(0); // counts answers, to draw again
  readonly measuring = signal(false); // the key is held
  readonly marked = signal<readonly Track[]>([]); // to be selected together
  readonly scrollTo = signal<{ y: number } | null>(null);
  readonly found = signal<{ text: string; ts: number } | null>(null); // the last match that was gone to
  readonly missed = signal(""); // what was searched for in vain
  searchedAt = 0;
  tiles = new TileStore();

  readonly wall: ReadonlySignal<number> = computed(() => Math.max(recording.value?.wall_ns ?? 1, 1));

  readonly pinned: ReadonlySignal<readonly TrackId[]> = computed(() =>
    (selection.value.settings["timeline.pin"] ?? "").split(",").filter(Boolean).map(Number),
  );

  readonly rows: ReadonlySignal<readonly Row[]> = computed(() => {
    const { hosts, pids, tids } = selection.value;
    const [collapsed, opened] = [this.collapsed.value, this.opened.value];
    const shown = { collapsed, opened, pinned: this.pinned.value, hosts, pids, tids };
    return rowsOf(this.tracks.value?.tracks ?? [], shown);
  });

  // Which events there are to see: of these layers, for which this holds. The rest of the selection chooses rows and times.
  readonly of: ReadonlySignal<EventPart> = computed(() => {
    const { layers, where } = JSON.parse(this.ofText.value) as { layers: string[]; where: string };
    return { layers, where };
  });
  private readonly ofText = computed(() => {
    const { layers, where } = selection.value;
    return JSON.stringify({ layers, where });
  });

  private readonly rangeFrom = computed(() => selection.value.from);
  private readonly rangeTo = computed(() => selection.value.to);

  readonly height: ReadonlySignal<number> = computed(() => totalHeight(this.rows.value));

  readonly visible: ReadonlySignal<readonly Row[]> = computed(() => {
    const [first, last] = between(this.rows.value, this.top.value, this.top.value + this.size.value.height);
    return this.rows.value.slice(first, last);
  });

  // What is under the pointer, also when the picture moves under it.
  readonly hovered: ReadonlySignal<Hit | null> = computed(() => {
    const place = this.pointer.value;
    void this.arrived.value;
    return place && hitAt(this.scene(), place.x, place.y + this.top.value);
  });

  private loader = this.newLoader();
  private remembering: ReturnType<typeof setTimeout> | undefined;
  private indexTimer: ReturnType<typeof setTimeout> | undefined;
  private loadedOf = "";
  private loadedPart: EventPart = {};
  private knownWall = 0;

  scene(): Scene {
    const { width } = this.size.value;
    return { rows: this.rows.value, tiles: this.tiles, camera: this.camera.value, width };
  }

  // Called by an effect: asks for the tracks of the recording, and again when it has grown.
  askForTracks(): void {
    const id = recording.value?.id ?? "";
    const of = this.of.value;
    void revision.value;
    if (id === "") return;
    if (id !== this.loadedOf || of !== this.loadedPart) {
      this.tracks.ask((signal) => api.tracks(id, signal, of), id !== this.loadedOf); // before anything is asked of them
      this.loadedPart = of;
      if (id !== this.loadedOf) this.begin(id);
      else this.beginPart();
    } else {
      this.grow(recording.peek()?.state === "running");
      this.tracks.refresh();
    }
    this.knownWall = this.wall.peek();
  }

  // A camera over the end of what was known stays over the end. Rows of the last seconds may still have been on their way.
  private grow(running: boolean): void {
    this.tiles.forgetAfter(running ? this.knownWall - lateNs : -1);
    const camera = this.camera.peek();
    const wall = this.wall.peek();
    if (wall === this.knownWall || camera.to < this.knownWall) return;
    const from = camera.from <= 0 ? 0 : camera.from + wall - this.knownWall;
    this.camera.value = clamped({ from, to: wall }, wall);
  }

  // Called by an effect: tracks may be missing until the server has made its index.
  followIndex(): void {
    clearTimeout(this.indexTimer);
    if (this.tracks.value?.building === undefined) return;
    this.indexTimer = setTimeout(() => this.tracks.refresh(), indexMs);
  }

  // Called by an effect: asks for what is on screen.
  look(): void {
    const { width, height } = this.size.value;
    if (width === 0 || height === 0) return;
    const drawn = this.visible.value.filter((row) => row.track.events > 0);
    const tracks = new Map(drawn.map(({ track }) => [track.id, { id: track.id, lines: track.depth }]));
    const camera = this.camera.value;
    void this.tracks.value;
    const sight = {
      recording: this.loadedOf,
      of: this.loadedPart,
      camera,
      width,
      wall: this.wall.value,
      tracks: [...tracks.values()],
    };
    this.loader.look(sight);
  }

  // Called by an effect: the arrows between what is on screen.
  askForFlows(): void {
    const { from, to } = this.camera.value;
    const tracks = this.visible.value.map((row) => row.track.id);
    if (!this.showFlows.value || tracks.length === 0) return;
    const place = { from: Math.floor(from), to: Math.ceil(to), width: 1 };
    const wish = { recording: this.loadedOf, ...this.of.value, ...place, tracks, flows: true };
    this.flows.ask(async (signal) => {
      await new Promise((done) => setTimeout(done, 150)); // while the camera moves, nobody asks
      signal.throwIfAborted();
      const answer = await api.timeline(wish, signal);
      const at = (end: { track: TrackId; t: number }): Arrow["from"] => ({ track: end.track, t: end.t + answer.from });
      return (answer.flows ?? []).map((flow) => ({ from: at(flow.from), to: at(flow.to) }));
    });
  }

  stop(): void {
    this.loader.stop();
    this.tracks.stop();
    this.event.stop();
    this.flows.stop();
    clearTimeout(this.remembering);
    clearTimeout(this.indexTimer);
  }

  move(camera: Camera): void {
    this.camera.value = clamped(camera, this.wall.peek());
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => this.remember(), rememberAfterMs);
  }

  pan(share: number): void {
    this.move(panned(this.camera.peek(), share, this.wall.peek()));
  }

  zoom(factor: number, at?: number): void {
    const camera = this.camera.peek();
    this.move(zoomed(camera, factor, at ?? (camera.from + camera.to) / 2, this.wall.peek()));
  }

  show(from: number, to: number): void {
    this.move(around(from, to, this.wall.peek()));
  }

  showAll(): void {
    this.move({ from: 0, to: this.wall.peek() });
  }

  // The selected range, else the chosen event, else everything.
  showChosen(): void {
    const { from, to } = selection.peek();
    const event = this.chosen.peek();
    if (from !== null || to !== null) this.show(from ?? 0, to ?? this.wall.peek());
    else if (event) this.show(event.start, event.start + event.dur);
    else this.showAll();
  }

  // Whoever comes from another view with a range wants to see it, and not a hair in the whole recording.
  private arrive(): void {
    const { from, to } = selection.peek();
    if (from === null && to === null) return;
    const [begin, end] = [from ?? 0, to ?? this.wall.peek()];
    const small = (end - begin) * 20 < spanOf(this.camera.peek());
    if (small || this.remembered() === null) this.show(begin, end);
    else this.follow();
  }

  // Where somebody else selected a range that is not on screen, the camera goes there.
  follow(): void {
    const [from, to] = [this.rangeFrom.value, this.rangeTo.value];
    if (this.loadedOf === "" || (from === null && to === null)) return;
    const [begin, end] = [from ?? 0, to ?? this.wall.peek()];
    if (!shows(this.camera.peek(), begin, end) || spanOf(this.camera.peek()) < end - begin) this.show(begin, end);
  }

  // Goes to an event that may be anywhere: the camera in time, the screen to its thread.
  reveal(ts: number, dur: number, tid: number | null, depth = 0): void {
    const camera = this.camera.peek();
    if (!shows(camera, ts, ts + Math.max(dur, spanOf(camera) / 100))) {
      const half = Math.max(spanOf(camera) / 2, dur);
      this.move({ from: ts - half, to: ts + half });
    } else if (dur < spanOf(camera) / 1000) this.show(ts - dur * 20, ts + dur * 21);
    this.openFor(tid, depth);
    this.scrollToThread(tid);
  }

  // What an event lies in is opened, down to its level.
  private openFor(tid: number | null, depth: number): void {
    const all = this.tracks.value?.tracks ?? [];
    const track = all.find((each) => each.tid === tid && each.kind === "thread");
    if (!track) return;
    const collapsed = new Set(this.collapsed.peek());
    for (const id of [track.id, ...ancestorsOf(track, all)]) collapsed.delete(id);
    batch(() => {
      this.collapsed.value = collapsed;
      const row = this.rows.peek().find((each) => each.track.id === track.id);
      if (row && depth >= row.lines) this.opened.value = new Set([...this.opened.peek(), track.id]);
    });
  }

  scrollToThread(tid: number | null): void {
    const row = this.rows.peek().find((each) => each.track.tid === tid && !each.pinned);
    if (row && tid !== null) this.scrollToRow(row);
  }

  scrollToTrack(id: TrackId): void {
    const row = this.rows.peek().find((each) => each.track.id === id && !each.pinned);
    if (row) this.scrollToRow(row);
  }

  private scrollToRow(row: Row): void {
    const { height } = this.size.peek();
    const top = this.top.peek();
    if (row.y < top || row.y + row.height > top + height) this.scrollTo.value = { y: Math.max(0, row.y - height / 3) };
  }

  pointedAt(): number | undefined {
    const place = this.pointer.peek();
    return place ? timeAt(this.camera.peek(), place.x, Math.max(1, this.size.peek().width)) : undefined;
  }

  letGo(): void {
    this.measure.value = null;
    this.choose(null);
  }

  selectRange(range: Camera): void {
    const from = Math.max(0, Math.floor(Math.min(range.from, range.to)));
    const to = Math.ceil(Math.max(range.from, range.to));
    if (to > from) select({ from, to });
  }

  // The edge of the chosen event, else of what is on screen.
  selectEdge(edge: "from" | "to"): void {
    const [event, camera] = [this.chosen.peek(), this.camera.peek()];
    const [begin, end] = event ? [event.start, event.start + Math.max(event.dur, 1)] : [camera.from, camera.to];
    select(withEdge(selection.peek(), edge, Math.min(edge === "from" ? begin : end, this.wall.peek())));
  }

  choose(hit: Hit | null): void {
    this.chosen.value = hit;
    if (hit && hit.row >= 0) {
      const [id, of] = [this.loadedOf, this.loadedPart];
      this.event.ask((signal) => api.event(hit.row, id, signal, of));
    }
  }

  mark(track: Track): void {
    const marked = this.marked.peek();
    const others = marked.filter(({ id }) => id !== track.id);
    this.marked.value = others.length < marked.length ? others : [...marked, track];
  }

  selectMarked(): void {
    const marked = this.marked.peek();
    if (marked.length === 0) return;
    this.marked.value = [];
    select(withTracks(selection.peek(), marked));
  }

  toggle(track: Track): void {
    const which = isCounterGroup(track) ? this.opened : this.collapsed;
    which.value = toggled(which.peek(), track.id);
  }

  toggleLevels(id: TrackId): void {
    this.opened.value = toggled(this.opened.peek(), id);
  }

  collapseAll(): void {
    const groups = (this.tracks.value?.tracks ?? []).filter((track) => track.kind === "process");
    batch(() => {
      this.collapsed.value = new Set(groups.map((track) => track.id));
      this.opened.value = new Set();
    });
  }

  // Every level and every counter.
  expandAll(): void {
    const tracks = this.tracks.value?.tracks ?? [];
    batch(() => {
      this.collapsed.value = new Set();
      this.opened.value = new Set(tracks.flatMap((track) => [track.id, groupOf(track.id)]));
    });
  }

  togglePin(id: TrackId): void {
    const pinned = this.pinned.peek();
    const next = pinned.includes(id) ? pinned.filter((each) => each !== id) : [...pinned, id];
    changeSetting("timeline.pin", next.length > 0 ? next.join(",") : null, "push");
  }

  private begin(id: string): void {
    batch(() => {
      this.loader.stop();
      this.loader = this.newLoader();
      this.tiles = new TileStore();
      this.loadedOf = id;
      this.knownWall = 0;
      this.chosen.value = null;
      this.drawn.value = false;
      this.top.value = 0;
      this.camera.value = clamped(this.remembered() ?? { from: 0, to: this.wall.peek() }, this.wall.peek());
    });
    untracked(() => this.arrive());
  }

  // Other events of the same recording: what is seen of it stays, but for its boxes.
  private beginPart(): void {
    batch(() => {
      this.loader.stop();
      this.loader = this.newLoader();
      this.tiles = new TileStore();
      this.chosen.value = null;
      this.found.value = null;
      this.drawn.value = false;
      this.arrived.value += 1;
    });
  }

  private newLoader(): Loader {
    const arrived = (): void => {
      this.drawn.value = true;
      this.arrived.value += 1;
    };
    return new Loader(
      () => this.tiles,
      arrived,
      (error) => {
        this.error.value = error;
      },
      (busy) => {
        this.busy.value = busy;
      },
    );
  }

  private remembered(): Camera | null {
    const [from, to] = (selection.peek().settings["timeline.at"] ?? "").split("-").map(Number);
    return from !== undefined && to !== undefined && from >= 0 && to > from ? { from, to } : null;
  }

  private remember(): void {
    const { from, to } = this.camera.peek();
    const all = from <= 0 && to >= this.wall.peek();
    changeSetting("timeline.at", all ? null : `${Math.floor(from)}-${Math.ceil(to)}`);
  }
}

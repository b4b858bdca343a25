// SPDX-License-Identifier: MIT
// Asks for the tiles that are on screen, and when these are there for their neighbours: the next ones to both sides, and
// the level above. What nobody looks at any more is not waited for.
import { api, type EventPart } from "../api/client";
import { Refusal, wasAborted } from "../api/transport";
import type { TrackId } from "../api/types";
import { spanOf, type Camera } from "./camera";
import {
  binsOfTile,
  contentsOf,
  highestLevel,
  levelOf,
  tileFrom,
  tileSpan,
  tilesOver,
  type TileKey,
  type TileStore,
} from "./tiles";

export interface Sight {
  recording: string;
  of?: EventPart;
  camera: Camera;
  width: number;
  wall: number;
  tracks: readonly { id: TrackId; lines: number }[]; // whose rows are on screen
}

interface Request {
  key: TileKey;
  tracks: readonly TrackId[];
}

const atOnce = 2; // further ones would wait in the server
const linesOfRequest = 48; // each has up to 1024 boxes: an answer is read within a frame or two
const retryMs = 1500;

// What is missing, the most urgent first.
export function wantedOf(sight: Sight, has: (track: TrackId, key: TileKey) => boolean): Request[] {
  const level = levelOf(sight.camera, sight.width);
  const span = spanOf(sight.camera);
  const wide = {
    from: Math.max(0, sight.camera.from - span / 2),
    to: Math.min(sight.wall, sight.camera.to + span / 2),
  };
  const keys = [...tilesOver(sight.camera, level), ...tilesOver(wide, level)];
  if (level < highestLevel && tileSpan(level) < sight.wall) keys.push(...tilesOver(sight.camera, level + 1));
  const seen = new Set<string>();
  const requests: Request[] = [];
  for (const key of keys) {
    const text = `${key.level}/${key.index}`;
    if (seen.has(text) || tileFrom(key) >= Math.max(sight.wall, 1)) continue;
    seen.add(text);
    const missing = sight.tracks.filter((track) => !has(track.id, key));
    for (const tracks of portions(missing)) requests.push({ key, tracks });
  }
  return requests;
}

function portions(tracks: Sight["tracks"]): TrackId[][] {
  const all: TrackId[][] = [];
  let lines = linesOfRequest;
  for (const track of tracks) {
    const own = Math.max(1, track.lines); // a counter has none
    if (lines + own > linesOfRequest) {
      all.push([]);
      lines = 0;
    }
    all.at(-1)!.push(track.id);
    lines += own;
  }
  return all;
}

interface Running {
  request: Request;
  control: AbortController;
}

// Keeps what is wanted (`sight`) apart from what is asked for: each answer is followed by the most urgent of what is
// missing then, so that moving the camera quickly leaves no queue behind.
export class Loader {
  private sight: Sight | null = null;
  private readonly running = new Set<Running>();
  private retry: ReturnType<typeof setTimeout> | undefined;
  private later: ReturnType<typeof setTimeout> | undefined;
  private coarse = false; // some answer was, since the server's index was not there yet

  constructor(
    private readonly tiles: () => TileStore,
    private readonly arrived: () => void,
    private readonly failed: (error: Refusal | null) => void,
    private readonly waits: (busy: boolean) => void = () => {},
  ) {}

  look(sight: Sight): void {
    this.sight = sight;
    this.next();
  }

  // Whether something is still on its way, or will be asked again.
  get busy(): boolean {
    return this.running.size > 0 || this.coarse;
  }

  stop(): void {
    clearTimeout(this.retry);
    clearTimeout(this.later);
    this.coarse = false;
    this.sight = null;
    for (const each of this.running) each.control.abort();
    this.running.clear();
  }

  private next(): void {
    if (!this.sight) return;
    const asked = (track: TrackId, key: TileKey): boolean => this.tiles().has(track, key) || this.isAsked(track, key);
    const wanted = wantedOf(this.sight, asked);
    this.giveUpOthers();
    for (const request of wanted.slice(0, atOnce - this.running.size)) void this.ask(request, this.sight);
    this.waits(this.busy);
  }

  private isAsked(track: TrackId, key: TileKey): boolean {
    for (const { request } of this.running) {
      if (request.key.level === key.level && request.key.index === key.index && request.tracks.includes(track))
        return true;
    }
    return false;
  }

  // Requests of another level than the one on screen and above it are not worth their place.
  private giveUpOthers(): void {
    const level = levelOf(this.sight!.camera, this.sight!.width);
    for (const each of this.running) {
      const off = each.request.key.level - level;
      if (off >= 0 && off <= 1) continue;
      each.control.abort();
      this.running.delete(each);
    }
  }

  private async ask(request: Request, { recording, of }: Sight): Promise<void> {
    const running = { request, control: new AbortController() };
    this.running.add(running);
    const from = tileFrom(request.key);
    const { age } = this.tiles(); // when it was asked
    const place = { from, to: from + tileSpan(request.key.level), width: binsOfTile };
    const wish = { recording, ...of, ...place, tracks: request.tracks };
    try {
      const answer = await api.timeline(wish, running.control.signal);
      if (running.control.signal.aborted) return;
      for (const [track, content] of contentsOf(answer, request.tracks, this.tiles().names)) {
        this.tiles().put(track, request.key, content, age);
      }
      this.running.delete(running);
      if (answer.building !== undefined) this.askAgainLater();
      this.failed(null);
      this.arrived();
      this.next();
    } catch (error) {
      this.running.delete(running);
      if (wasAborted(error) || running.control.signal.aborted) return;
      this.failed(error instanceof Refusal ? error : new Refusal(String(error), -1));
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.next(), retryMs);
    }
  }

  // The server still makes its index; what it says until then is coarse.
  private askAgainLater(): void {
    clearTimeout(this.later);
    this.coarse = true;
    this.later = setTimeout(() => {
      this.coarse = false;
      this.tiles().forgetAfter(-1);
      this.next();
    }, retryMs);
  }
}

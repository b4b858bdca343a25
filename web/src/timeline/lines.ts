// SPDX-License-Identifier: MIT
// Draws the boxes of a track: coloured by layer, named where there is room. Neighbours that are narrower than a few pixels
// and have the same colour become one rectangle, which keeps a frame short.
import type { Pen } from "../draw/pen";
import type { TextFitter } from "../draw/text";
import { channels, inkOn, layerColour, type Shade } from "../theme/layers";
import { xOf, type Camera } from "./camera";
import { eachBox, type Boxes, type Segment } from "./tiles";

export interface Look {
  camera: Camera;
  width: number;
  shade: Shade;
  back: string;
  names: readonly string[];
  fitter: TextFitter;
  matches: ((name: string) => boolean) | null; // others are faded
  layers: readonly string[]; // chosen ones; others are faded; empty: all
  chosenRow: number; // of the event whose details are shown, or -1
  accent: string;
}

const narrow = 3; // px
const leastTextWidth = 28;

export function fillOf(layer: string, faded: boolean, look: Look): string {
  const colour = layerColour(layer, look.shade);
  return faded ? mixed(colour, look.back, 0.22) : colour;
}

const mixes = new Map<string, string>();

// A colour as it would look over another one: an opaque fill costs less than a transparent one, and neighbours can be
// joined.
export function mixed(colour: string, back: string, share: number): string {
  const key = `${colour}${back}${share}`;
  let found = mixes.get(key);
  if (!found) {
    const [over, under] = [channels(colour), channels(back)];
    const parts = over.map((value, at) => Math.round(value * share + under[at]! * (1 - share)));
    found = `#${parts.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
    mixes.set(key, found);
  }
  return found;
}

// Which names are faded, asked once for each name of a frame.
export class Fader {
  private readonly known = new Map<number, boolean>();

  constructor(private readonly look: Look) {}

  faded(boxes: Boxes, at: number): boolean {
    const { matches, layers, names } = this.look;
    if (layers.length > 0 && !layers.includes(names[boxes.layer[at]!] ?? "")) return true;
    if (!matches) return false;
    const number = boxes.name[at]!;
    let known = this.known.get(number);
    if (known === undefined) this.known.set(number, (known = !matches(names[number] ?? "")));
    return known;
  }
}

// Where a box lies on screen.
interface Placed {
  left: number;
  right: number;
  y: number;
  fill: string;
}

// Draws the boxes of one track, and holds back narrow ones until their neighbours cannot join them any more.
class Drawer {
  private pending: Placed | null = null;

  constructor(
    private readonly pen: Pen,
    private readonly height: number,
    private readonly look: Look,
  ) {}

  box(placed: Placed, boxes: Boxes, at: number): void {
    if (placed.right - placed.left < narrow) {
      this.join({ ...placed, right: Math.max(placed.right, placed.left + 1) });
    } else {
      this.flush();
      this.pen.box(placed.left, placed.y, placed.right - placed.left - 0.5, this.height, placed.fill);
      this.name(placed, labelOf(boxes, at, this.look.names));
    }
    if (boxes.row[at] === this.look.chosenRow && this.look.chosenRow >= 0) this.frame(placed);
  }

  flush(): void {
    const { pending } = this;
    if (pending) this.pen.box(pending.left, pending.y, pending.right - pending.left, this.height, pending.fill);
    this.pending = null;
  }

  private join(placed: Placed): void {
    const before = this.pending;
    if (before && before.y === placed.y && before.fill === placed.fill && placed.left <= before.right + 0.5) {
      before.right = Math.max(before.right, placed.right);
    } else {
      this.flush();
      this.pending = placed;
    }
  }

  private name({ left, right, y, fill }: Placed, label: string): void {
    const begin = Math.max(left, 0) + 4;
    const room = Math.min(right, this.look.width) - begin - 3;
    if (room < leastTextWidth) return;
    const text = this.look.fitter.fit(label, room);
    if (text) this.pen.text(text, begin, y + this.height / 2, inkOn(fill), 11);
  }

  private frame({ left, right, y }: Placed): void {
    this.flush();
    const [end, bottom] = [Math.max(right, left + 2), y + this.height];
    this.pen.line([left, y, end, y, end, bottom, left, bottom, left, y], this.look.accent, 2);
  }
}

export interface Lines {
  top: number;
  count: number; // how many of the track's depths are shown
  height: number; // of each
}

export function drawBoxes(pen: Pen, segments: readonly Segment[], lines: Lines, look: Look): void {
  const fader = new Fader(look);
  const drawer = new Drawer(pen, lines.height - 1, look);
  eachBox(segments, (boxes, at) => {
    const depth = boxes.depth[at]!;
    if (depth >= lines.count) return;
    const left = Math.max(-2, xOf(look.camera, boxes.start[at]!, look.width));
    const right = Math.min(look.width + 2, xOf(look.camera, boxes.start[at]! + boxes.dur[at]!, look.width));
    if (right < -1 || left > look.width + 1) return;
    const fill = fillOf(look.names[boxes.layer[at]!] ?? "", fader.faded(boxes, at), look);
    drawer.box({ left, right, y: lines.top + depth * lines.height, fill }, boxes, at);
  });
  drawer.flush();
}

// Of several events that are drawn as one: the name with most time, and how many they are.
export function labelOf(boxes: Boxes, at: number, names: readonly string[]): string {
  const name = names[boxes.name[at]!] ?? "";
  const count = boxes.count[at]!;
  return count > 1 ? `${name} … ×${count}` : name;
}

// SPDX-License-Identifier: MIT
// What the mouse does on the picture: drag moves it, Shift+drag selects a range, Alt+drag or M+drag measures, a click shows
// an event, a double click goes there; the wheel scrolls, with Ctrl it zooms, with Shift it moves through time.
import { placeIn } from "../draw/canvas";
import { spanOf, timeAt, type Camera } from "./camera";
import { hitAt, type Hit } from "./hit";
import type { TimelineModel } from "./model";

type Drag = { kind: "pan" | "range" | "measure"; x: number; camera: Camera; moved: boolean };

const clickReach = 4; // px that a click may tremble

// A press may become a click or a drag: which one is known when it has moved, or ends without having moved.
export class Pointer {
  private drag: Drag | null = null;

  constructor(private readonly model: TimelineModel) {}

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const element = event.currentTarget as HTMLElement;
    element.setPointerCapture(event.pointerId);
    const kind = event.shiftKey ? "range" : event.altKey || this.model.measuring.peek() ? "measure" : "pan";
    this.drag = { kind, x: placeIn(element, event).x, camera: this.model.camera.peek(), moved: false };
  }

  move(event: PointerEvent): void {
    const { x, y } = placeIn(event.currentTarget as HTMLElement, event);
    if (!this.drag) {
      this.model.pointer.value = { x, y };
      return;
    }
    if (Math.abs(x - this.drag.x) >= clickReach) this.drag.moved = true;
    if (!this.drag.moved) return;
    this.model.pointer.value = null;
    const range = this.rangeTo(x);
    if (this.drag.kind === "pan") {
      const { camera } = this.drag;
      const by = ((this.drag.x - x) / this.width) * spanOf(camera);
      this.model.move({ from: camera.from + by, to: camera.to + by });
    } else if (this.drag.kind === "range") this.model.dragged.value = range;
    else this.model.measure.value = range;
  }

  up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    const { x, y } = placeIn(event.currentTarget as HTMLElement, event);
    if (!drag.moved) this.click(x, y);
    else if (drag.kind === "range" && this.model.dragged.peek()) this.model.selectRange(this.model.dragged.peek()!);
    this.model.dragged.value = null;
  }

  leave(): void {
    this.model.pointer.value = null;
  }

  doubleClick(event: MouseEvent): void {
    const { x, y } = placeIn(event.currentTarget as HTMLElement, event);
    const hit = this.hit(x, y);
    if (hit) this.model.show(hit.start, hit.start + hit.dur);
  }

  wheel(event: WheelEvent): void {
    const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { x } = placeIn(event.currentTarget as HTMLElement, event);
      this.model.zoom(2 ** (event.deltaY / 200), timeAt(this.model.camera.peek(), x, this.width));
    } else if (across !== 0 && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      event.preventDefault();
      this.model.pan(across / this.width);
    }
  }

  private get width(): number {
    return Math.max(1, this.model.size.peek().width);
  }

  private click(x: number, y: number): void {
    this.model.measure.value = null;
    this.model.choose(this.hit(x, y));
  }

  private hit(x: number, y: number): Hit | null {
    return hitAt(this.model.scene(), x, y + this.model.top.peek());
  }

  private rangeTo(x: number): Camera {
    const times = [this.drag!.x, x].map((place) => timeAt(this.drag!.camera, place, this.width)).sort((a, b) => a - b);
    return { from: Math.max(0, times[0]!), to: Math.min(this.model.wall.peek(), times[1]!) };
  }
}

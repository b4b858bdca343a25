// SPDX-License-Identifier: MIT
// Canvases that are sharp on every screen and as wide as their place.
import { useEffect, useRef } from "preact/hooks";
import { useSignal, type Signal } from "@preact/signals";
import type { RefObject } from "preact";

export interface Size {
  width: number; // CSS pixels
  height: number;
}

// Gives the canvas one pixel per pixel of the screen and returns a context that counts in CSS pixels.
export function sharpContext(canvas: HTMLCanvasElement, size: Size): CanvasRenderingContext2D {
  const ratio = globalThis.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(size.width * ratio));
  const height = Math.max(1, Math.round(size.height * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// The size of an element, as a signal that follows it.
export function useSize<T extends HTMLElement>(): [RefObject<T | null>, Signal<Size>] {
  const element = useRef<T>(null);
  const size = useSignal<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const watched = element.current;
    if (!watched) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = watched;
      const before = size.peek();
      if (before.width !== width || before.height !== height) size.value = { width, height };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(watched);
    measure();
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

// Calls `draw` at most once a frame, however often it is asked.
export function oncePerFrame(draw: () => void): { ask: () => void; stop: () => void } {
  let asked = 0;
  return {
    ask: () => {
      if (asked) return;
      asked = requestAnimationFrame(() => {
        asked = 0;
        draw();
      });
    },
    stop: () => {
      cancelAnimationFrame(asked);
      asked = 0;
    },
  };
}

// Where a pointer is, in CSS pixels of the element.
export function placeIn(element: Element, event: { clientX: number; clientY: number }): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

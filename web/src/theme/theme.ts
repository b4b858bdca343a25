// SPDX-License-Identifier: MIT
// Light or dark: what the system says, unless the switch says otherwise. Canvases read their colours from `palette`,
// which tells the same as the variables of theme.css.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Shade } from "./layers";

export type Choice = "system" | Shade;

const kept = "fathom.theme";

export const choice = signal<Choice>("system");
const systemIsDark = signal(false);

export const shade: ReadonlySignal<Shade> = computed(() => {
  if (choice.value !== "system") return choice.value;
  return systemIsDark.value ? "dark" : "light";
});

export interface Palette {
  back: string;
  raised: string;
  line: string;
  text: string;
  faint: string; // text of lesser weight, still readable
  accent: string;
  chosen: string; // veil over a selected range
}

const palettes: Record<Shade, Palette> = {
  light: {
    back: "#ffffff",
    raised: "#f4f6f8",
    line: "#d5dae1",
    text: "#1a1f27",
    faint: "#56606e",
    accent: "#0b62b8",
    chosen: "rgba(11, 98, 184, 0.14)",
  },
  dark: {
    back: "#14171c",
    raised: "#1e232b",
    line: "#363d49",
    text: "#e6e9ee",
    faint: "#a3adbb",
    accent: "#6cb6ff",
    chosen: "rgba(108, 182, 255, 0.18)",
  },
};

export const palette: ReadonlySignal<Palette> = computed(() => palettes[shade.value]);

export function choose(next: Choice): void {
  choice.value = next;
  try {
    localStorage.setItem(kept, next);
  } catch {
    // a browser that keeps nothing: the choice lasts as long as the page
  }
}

export function followSystem(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  systemIsDark.value = dark.matches;
  dark.addEventListener("change", () => {
    systemIsDark.value = dark.matches;
  });
  try {
    const before = localStorage.getItem(kept);
    if (before === "light" || before === "dark") choice.value = before;
  } catch {
    // as above
  }
}

// SPDX-License-Identifier: MIT
// A text that may be very long, such as a command: some lines of it, and a way to see all.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

const LONG = 240; // characters; shorter ones are never cut

export function Clamped({ text }: { text: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  if (text.length <= LONG) return <>{text}</>;
  return (
    <>
      <span class={open ? "clamped open" : "clamped"}>{text}</span>
      <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Show less" : "Show all"}
      </button>
    </>
  );
}

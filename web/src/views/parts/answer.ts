// SPDX-License-Identifier: MIT
// A question that follows the selection. It is asked again when what it says changes, or when the
// recording has grown, and not when another setting of the page does. No answer of one recording is shown for another.
import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Asked } from "../../api/asked";
import { recording, revision } from "../../state/page";

export function useAnswer<Wish, Answer>(
  wish: () => Wish,
  ask: (wish: Wish, signal: AbortSignal) => Promise<Answer>,
): Asked<Answer> {
  const asked = useMemo(() => new Asked<Answer>(), []);
  const said = useComputed(() => JSON.stringify(wish()));
  const before = useRef<string | null>(null);
  const askedOf = useRef<string | undefined>(undefined);
  useSignalEffect(() => {
    void revision.value;
    const now = said.value;
    if (now === before.current) return asked.refresh();
    const id = recording.peek()?.id;
    asked.ask((signal) => ask(JSON.parse(now) as Wish, signal), id !== askedOf.current);
    before.current = now;
    askedOf.current = id;
  });
  useEffect(() => () => asked.stop(), []);
  return asked;
}

// SPDX-License-Identifier: MIT
// A question that follows the selection. It is asked again when what it says changes, or when the
// recording has grown, and not when another setting of the page does.
import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Asked } from "../../api/asked";
import { revision } from "../../state/page";

export function useAnswer<Wish, Answer>(
  wish: () => Wish,
  ask: (wish: Wish, signal: AbortSignal) => Promise<Answer>,
): Asked<Answer> {
  const asked = useMemo(() => new Asked<Answer>(), []);
  const said = useComputed(() => JSON.stringify({ wish: wish(), revision: revision.value }));
  useSignalEffect(() => {
    const now = (JSON.parse(said.value) as { wish: Wish }).wish;
    asked.ask((signal) => ask(now, signal));
  });
  useEffect(() => () => asked.stop(), []);
  return asked;
}

// SPDX-License-Identifier: MIT
// What a view shows while there is nothing to show: it waits, there is nothing, or it failed.
import type { ComponentChildren, JSX } from "preact";
import type { Asked, Standing } from "../api/asked";
import type { Refusal } from "../api/transport";

export function Loading({ what = "Loading" }: { what?: string }): JSX.Element {
  return (
    <div class="state" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}…
    </div>
  );
}

// `hint` says what to do about it, such as which option records more.
export function Empty({ what, hint }: { what: string; hint?: ComponentChildren }): JSX.Element {
  return (
    <div class="state" role="status">
      <p>{what}</p>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

export function Failed({ error, again }: { error: Refusal; again?: () => void }): JSX.Element {
  return (
    <div class="state failed" role="alert">
      <p>{error.message}</p>
      {error.passing && <p class="hint">Trying again by itself.</p>}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

// Fades what answers another question than the one that is asked now.
function looks(standing: Standing<unknown>): string {
  return "other" in standing && standing.other ? "answer other" : "answer";
}

// A part of a view that has a question of its own, where the view shows it when it is there.
export function Beside({ of, children }: { of: Asked<unknown>; children: ComponentChildren }): JSX.Element {
  return <div class={looks(of.state.value)}>{children}</div>;
}

interface AnsweredProps<T> {
  of: Asked<T>;
  what?: string; // what is being loaded
  children: (value: T) => ComponentChildren;
}

// The answer, or why there is none. An older answer stays while the next one is on its way, faded where it is one to another
// question. The parts stand in the same places whatever happens, so that what is shown keeps its state.
export function Answered<T>({ of, what, children }: AnsweredProps<T>): JSX.Element {
  const standing = of.state.value;
  const there = standing.kind === "there";
  const before = standing.kind === "loading" || standing.kind === "failed" ? standing.before : null;
  if (!there && before === null && standing.kind !== "failed") return <Loading what={what ?? "Loading"} />;
  return (
    <div class={looks(standing)} aria-busy={standing.kind === "loading"}>
      {standing.kind === "failed" && <Failed error={standing.error} again={() => of.refresh()} />}
      {there ? children(standing.value) : before !== null && children(before)}
    </div>
  );
}

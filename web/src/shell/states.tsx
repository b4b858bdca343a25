// SPDX-License-Identifier: MIT
// What a view shows while there is nothing to show: it waits, there is nothing, or it failed.
import type { ComponentChildren, JSX } from "preact";
import type { Asked } from "../api/asked";
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
      {error.lost && <p class="hint">Trying again by itself.</p>}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

interface AnsweredProps<T> {
  of: Asked<T>;
  what?: string; // what is being loaded
  children: (value: T) => ComponentChildren;
}

// The answer, or why there is none. An older answer stays, marked as such, while the next one is on its way.
export function Answered<T>({ of, what, children }: AnsweredProps<T>): JSX.Element {
  const standing = of.state.value;
  if (standing.kind === "there") return <div class="answer">{children(standing.value)}</div>;
  if (standing.kind === "idle") return <Loading what={what ?? "Loading"} />;
  if (standing.before !== null) {
    return (
      <div class="answer stale" aria-busy={standing.kind === "loading"}>
        {standing.kind === "failed" && <Failed error={standing.error} again={() => of.refresh()} />}
        {children(standing.before)}
      </div>
    );
  }
  if (standing.kind === "failed") return <Failed error={standing.error} again={() => of.refresh()} />;
  return <Loading what={what ?? "Loading"} />;
}

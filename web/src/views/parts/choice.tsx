// SPDX-License-Identifier: MIT
// The small controls above a picture. What they choose is kept in the address.
import type { JSX } from "preact";
import { useComputed } from "@preact/signals";
import { changeSetting, setting } from "../../state/selection";

export interface Option {
  value: string;
  title: string;
}

export function options(...pairs: readonly (readonly [string, string])[]): Option[] {
  return pairs.map(([value, title]) => ({ value, title }));
}

interface ChoiceProps {
  name: string; // of the setting
  label: string;
  usual: string;
  options: readonly Option[];
}

export function Choice({ name, label, usual, options: all }: ChoiceProps): JSX.Element {
  const chosen = useComputed(() => setting(name, usual).value).value;
  return (
    <label class="choice">
      <span>{label}</span>
      <select
        value={chosen}
        onChange={(event) => {
          const { value } = event.currentTarget;
          changeSetting(name, value === usual ? null : value, "push");
        }}
      >
        {all.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Switch({ name, label }: { name: string; label: string }): JSX.Element {
  const on = useComputed(() => setting(name, "").value === "1").value;
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => changeSetting(name, event.currentTarget.checked ? "1" : null, "push")}
      />
      <span>{label}</span>
    </label>
  );
}

interface SearchProps {
  name: string;
  label: string;
  children?: JSX.Element | string | null; // what was found
}

export function Search({ name, label, children }: SearchProps): JSX.Element {
  const text = useComputed(() => setting(name, "").value).value;
  return (
    <label class="choice search">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        spellcheck={false}
        onInput={(event) => changeSetting(name, event.currentTarget.value || null)}
      />
      <output>{children}</output>
    </label>
  );
}

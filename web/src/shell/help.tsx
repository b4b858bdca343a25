// SPDX-License-Identifier: MIT
// The keys of the page and of the view on screen.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keyDefs } from "../state/keys";

const open = signal(false);

export function showHelp(): void {
  open.value = true;
}

const names: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

export function Help(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const wanted = open.value;
  useEffect(() => {
    if (wanted && !dialog.current?.open) dialog.current?.showModal();
  }, [wanted]);
  const close = (): void => {
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (open.value = false)}>
      <h2 id="help-title">Keys</h2>
      <table>
        <tbody>
          {keyDefs.value
            .filter((def) => def.when?.() ?? true)
            .map((def) => (
              <tr key={def.keys.join(" ")}>
                <th scope="row">
                  {def.keys.map((key) => (
                    <kbd key={key}>{names[key] ?? key}</kbd>
                  ))}
                </th>
                <td>{def.help}</td>
              </tr>
            ))}
        </tbody>
      </table>
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  );
}

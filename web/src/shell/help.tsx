// SPDX-License-Identifier: MIT
// The keys of the page and of the view on screen, and what the mouse does there.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keyDefs, mouseDefs } from "../state/keys";

const open = signal(false);

export function showHelp(): void {
  open.value = true;
}

const names: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

function Row({ head, help }: { head: ComponentChildren; help: string }): JSX.Element {
  return (
    <tr>
      <th scope="row">{head}</th>
      <td>{help}</td>
    </tr>
  );
}

function Keys(): JSX.Element {
  const defs = keyDefs.value.filter((def) => def.when?.() ?? true);
  return (
    <table>
      <tbody>
        {defs.map(({ keys, help }) => (
          <Row
            key={keys.join(" ")}
            head={keys.map((key) => (
              <kbd key={key}>{names[key] ?? key}</kbd>
            ))}
            help={help}
          />
        ))}
      </tbody>
    </table>
  );
}

function Mouse(): JSX.Element {
  return (
    <>
      <h2>Mouse</h2>
      <table>
        <tbody>
          {mouseDefs.value.map(({ gesture, help }) => (
            <Row key={gesture} head={gesture} help={help} />
          ))}
        </tbody>
      </table>
    </>
  );
}

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
      <Keys />
      {mouseDefs.value.length > 0 && <Mouse />}
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  );
}

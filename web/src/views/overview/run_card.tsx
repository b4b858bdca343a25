// SPDX-License-Identifier: MIT
// What was run, where, for how long, and whether the recording holds all of it.
import type { ComponentChildren, JSX } from "preact";
import type { Recording } from "../../api/types";
import { escapeName } from "../../logic/escape";
import { lossesOf } from "../../logic/losses";
import { counted, humanNs } from "../../logic/units";
import { EventCount } from "../../shell/event_count";
import { Clamped } from "../parts/clamped";

function Fact(props: { name: string; wide?: boolean; children: ComponentChildren }): JSX.Element {
  const { name, wide, children } = props;
  return (
    <div class={wide ? "fact wide" : "fact"}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function RunCard({ recording }: { recording: Recording }): JSX.Element {
  const command = escapeName(recording.command.join(" ")) || "unknown (recorded without the command)";
  const losses = lossesOf(recording.lost);
  const missing = recording.layers.filter((layer) => layer.events === 0 && layer.reason);
  return (
    <section class="run-card" aria-label={`The run ${escapeName(recording.name)}`}>
      <dl>
        <Fact name="Command" wide>
          <code>
            <Clamped text={command} />
          </code>
        </Fact>
        <Fact name="Recording">{escapeName(recording.name)}</Fact>
        <Fact name="State" wide={Boolean(recording.state_reason)}>
          <span class={`run-state ${recording.state}`}>{recording.state}</span>
          {recording.state_reason && `: ${escapeName(recording.state_reason)}`}
        </Fact>
        <Fact name="Duration">{humanNs(recording.wall_ns)}</Fact>
        {recording.exit !== undefined && <Fact name="Exit status">{recording.exit}</Fact>}
        {recording.overhead_ns !== undefined && (
          <Fact name="Cost of recording">{humanNs(recording.overhead_ns)} (estimate)</Fact>
        )}
        <Fact name="Hosts">{recording.hosts.map(escapeName).join(", ") || "unknown"}</Fact>
        <Fact name="Events">
          <EventCount key={recording.id} recording={recording.id} waiting="being counted…" />
        </Fact>
        <Fact name="Lost" wide={losses.length > 0}>
          {losses.length === 0 ? "nothing" : losses.map((loss, at) => <div key={at}>{escapeName(loss)}</div>)}
        </Fact>
      </dl>
      {missing.length > 0 && (
        <details>
          <summary>{counted(missing.length, "layer")} recorded nothing</summary>
          <ul>
            {missing.map((layer) => (
              <li key={layer.name}>
                {escapeName(layer.name)}: {escapeName(layer.reason ?? "")}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

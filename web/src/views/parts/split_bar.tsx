// SPDX-License-Identifier: MIT
// One whole, split: a bar of shares with a legend that says each.
import type { JSX } from "preact";
import { escapeName } from "../../logic/escape";
import { humanNs, humanPercent } from "../../logic/units";
import { SaveBar } from "./save_bar";
import { sharesPicture, sharesTable, type Share } from "./split_bar_picture";

interface SplitBarProps {
  title: string;
  shares: readonly Share[];
  onShare?: (share: Share) => void;
}

export function SplitBar({ title, shares, onShare }: SplitBarProps): JSX.Element | null {
  if (shares.length === 0) return null;
  const label = shares.map(({ name, share }) => `${name} ${humanPercent(share)}`).join(", ");
  return (
    <figure class="split">
      <figcaption>
        {title}
        <SaveBar name={title} picture={() => sharesPicture(title, shares)} table={() => sharesTable(shares)} />
      </figcaption>
      <div class="bar" role="img" aria-label={escapeName(label)}>
        {shares.map(({ name, share, colour }) => (
          <span
            key={name}
            style={{ width: `${share}%`, background: colour }}
            title={`${escapeName(name)} ${humanPercent(share)}`}
          />
        ))}
      </div>
      <ul class="legend">
        {shares.map((one) => (
          <li key={one.name}>
            <span class="swatch" style={{ background: one.colour }} aria-hidden="true" />
            {onShare ? (
              <button type="button" onClick={() => onShare(one)}>
                {escapeName(one.name)}
              </button>
            ) : (
              escapeName(one.name)
            )}
            <span class="number">{humanNs(one.time)}</span>
            <span class="number">{humanPercent(one.share)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

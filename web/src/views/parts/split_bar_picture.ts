// SPDX-License-Identifier: MIT
// A split bar drawn with a pen, for files.
import type { Pen } from "../../draw/pen";
import { escapeName } from "../../logic/escape";
import type { TableData } from "../../logic/table";
import { humanNs, humanPercent } from "../../logic/units";
import { palette } from "../../theme/theme";
import type { Picture } from "./save_bar";

export interface Share {
  name: string;
  time: number;
  share: number; // percent
  colour: string;
}

const WIDTH = 1000;
const BAR = 24;
const LINE = 20;

function drawShares(pen: Pen, title: string, shares: readonly Share[]): void {
  const { text } = palette.value;
  pen.text(title, 0, LINE / 2, text, 13);
  let x = 0;
  shares.forEach(({ name, time, share, colour }, at) => {
    const width = (share / 100) * WIDTH;
    pen.box(x, LINE, width, BAR, colour);
    x += width;
    const y = LINE + BAR + (at + 0.5) * LINE;
    pen.box(0, y - 6, 12, 12, colour);
    pen.text(`${escapeName(name)}  ${humanNs(time)}  ${humanPercent(share)}`, 20, y, text);
  });
}

export function sharesPicture(title: string, shares: readonly Share[]): Picture {
  const height = LINE + BAR + (shares.length + 0.5) * LINE;
  return { width: WIDTH, height, draw: (pen) => drawShares(pen, title, shares) };
}

export function sharesTable(shares: readonly Share[]): TableData {
  return {
    columns: [
      { name: "name", measure: "none" },
      { name: "time", measure: "ns" },
      { name: "share", measure: "percent" },
    ],
    rows: shares.map(({ name, time, share }) => [name, time, share]),
  };
}

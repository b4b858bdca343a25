// SPDX-License-Identifier: MIT
// What was read and written: by whom and when, how large and how fast, in which files and where.
import type { JSX } from "preact";
import { Activity } from "./activity";
import { Files } from "./files";
import { Histograms } from "./histograms";
import { Offsets } from "./offsets";

export function Io(): JSX.Element {
  return (
    <div class="view io">
      <Activity />
      <Histograms />
      <Offsets />
      <Files />
    </div>
  );
}

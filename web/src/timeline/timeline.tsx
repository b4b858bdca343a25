// SPDX-License-Identifier: MIT
// The timeline of a recording.
import type { JSX } from "preact";
import { Empty } from "../shell/states";

export function Timeline(): JSX.Element {
  return <Empty what="The timeline is not drawn yet" />;
}

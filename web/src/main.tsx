// SPDX-License-Identifier: MIT
// Starts the page. A document that holds its recording (startInside) has no server behind it: then
// there is no key to keep and nothing to follow.
import { render } from "preact";
import { effect } from "@preact/signals";
import { keepKey } from "./api/key";
import { startInside } from "./inside/start";
import { App } from "./shell/app";
import { followRecording, followServer } from "./state/live";
import { askForPage } from "./state/page";
import { followSearch } from "./state/search";
import { followAddress } from "./state/selection";
import { followSystem, shade } from "./theme/theme";
import "./theme/page.css";
import "./views/views.css";

const hasServer = startInside();
if (hasServer) keepKey();
followAddress();
followSearch();
followSystem();
effect(() => {
  document.documentElement.dataset["theme"] = shade.value;
});
askForPage();
if (hasServer) {
  followRecording();
  followServer();
}
render(<App />, document.getElementById("page")!);

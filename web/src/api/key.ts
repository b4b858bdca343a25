// SPDX-License-Identifier: MIT
// The page's key. Browsers send the cookie to every port of a host, so it alone answers no question: the key goes with each.
// It comes in the address, once, and is kept in the storage of this origin, which no other port can read.

const place = "fathom.key";
let kept = ""; // where the browser stores nothing

// Takes the key out of the address, and leaves the rest of it.
export function keepKey(): void {
  const key = new URLSearchParams(location.search).get("key");
  if (key === null) return;
  kept = key;
  try {
    localStorage.setItem(place, key);
  } catch {
    // then it lasts as long as this page
  }
  history.replaceState(history.state, "", location.pathname + location.hash);
}

// Read each time: another tab may have come with the address of a server that was started again.
export function pageKey(): string {
  try {
    return localStorage.getItem(place) ?? kept;
  } catch {
    return kept;
  }
}

export function keyHeaders(): Record<string, string> {
  const key = pageKey();
  return key ? { "Fathom-Key": key } : {};
}

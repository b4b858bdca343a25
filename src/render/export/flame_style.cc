// SPDX-License-Identifier: MIT
// Style and script of flame graphs. Colours are Okabe and Ito's,
// or shades of red and blue: people who see fewer colours can tell them apart.
#include "render/export/flame_svg.h"

namespace fathom::render {
namespace {

constexpr char kScript[] = R"js(
(() => {
  const letter = 6.7;
  const start = (root) => {
    const find = (what) => root.querySelector(what);
    const frames = [...root.querySelectorAll(".frames > g")].map((group) => {
      const rect = group.querySelector("rect");
      const title = group.querySelector("title").textContent;
      const number = (name) => parseFloat(rect.getAttribute(name));
      return {group, rect, title, label: group.querySelector("svg"), name: title.split("\n")[0],
        x: number("x"), width: number("width"), y: number("y"), caller: null, called: []};
    });
    if (frames.length === 0) return;
    const open = [];
    for (const frame of frames) {
      while (open.length > 0 && open[open.length - 1].y >= frame.y) open.pop();
      if (open.length > 0) {
        frame.caller = open[open.length - 1];
        frame.caller.called.push(frame);
      }
      open.push(frame);
    }
    let shown = frames[0];  // all of the width
    let current = frames[0];  // what keys move from
    const make = (name, parent) =>
      parent.appendChild(document.createElementNS(root.namespaceURI, name));
    const write = (frame, x, width, room) => {
      const letters = Math.floor((width / 100 * room - 6) / letter);
      if (letters < 3) {
        if (frame.label) frame.label.remove();
        frame.label = null;
        return;
      }
      if (!frame.label) {
        frame.label = make("svg", frame.group);
        frame.label.setAttribute("y", frame.y);
        frame.label.setAttribute("height", frame.rect.getAttribute("height"));
        const text = make("text", frame.label);
        text.setAttribute("x", 3);
        text.setAttribute("y", 12);
      }
      frame.label.setAttribute("x", x + "%");
      frame.label.setAttribute("width", width + "%");
      frame.label.firstChild.textContent =
        frame.name.length <= letters ? frame.name : frame.name.slice(0, letters - 1) + "…";
    };
    const draw = () => {
      const around = new Set();
      for (let frame = shown.caller; frame; frame = frame.caller) around.add(frame);
      const room = root.getBoundingClientRect().width || 1200;
      for (const frame of frames) {
        const above = around.has(frame);
        frame.inside = frame === shown || Boolean(frame.caller && frame.caller.inside);
        frame.group.style.display = above || frame.inside ? "" : "none";
        frame.group.classList.toggle("above", above);
        if (!above && !frame.inside) continue;
        const x = above ? 0 : (frame.x - shown.x) / shown.width * 100;
        const width = above ? 100 : frame.width / shown.width * 100;
        frame.rect.setAttribute("x", x + "%");
        frame.rect.setAttribute("width", width + "%");
        write(frame, x, width, room);
      }
    };
    const zoom = (frame) => {
      shown = frame;
      draw();
    };
    const tell = (frame) => {
      find(".detail").textContent = frame.title.replaceAll("\n", " · ");
    };
    const search = (words) => {
      const wanted = words.trim().toLowerCase();
      let hits = 0;
      let share = 0;
      for (const frame of frames) {
        const hit = wanted !== "" && frame.caller !== null && frame.name.toLowerCase().includes(wanted);
        frame.counted = Boolean(frame.caller && frame.caller.counted) || hit;
        if (hit && !frame.caller.counted) share += frame.width;
        if (hit) hits++;
        frame.group.classList.toggle("hit", hit);
      }
      root.classList.toggle("searching", wanted !== "");
      find("output").textContent =
        wanted === "" ? "" : `${hits} ${hits === 1 ? "frame" : "frames"}, ${share.toFixed(1)} % of the whole`;
    };
    const stand = (frame) => {
      current.group.setAttribute("tabindex", -1);
      current = frame;
      current.group.setAttribute("tabindex", 0);
      tell(frame);
    };
    const move = (to) => {
      if (!to || to.group.style.display === "none") return;
      stand(to);
      to.group.focus();
    };
    const beside = (steps) => {
      const all = current.caller ? current.caller.called : [current];
      return all[all.indexOf(current) + steps];
    };
    const keys = {
      ArrowDown: () => move(current.called[0]),
      ArrowUp: () => move(current.caller),
      ArrowLeft: () => move(beside(-1)),
      ArrowRight: () => move(beside(1)),
      Home: () => move(frames[0]),
      Enter: () => zoom(current),
      " ": () => zoom(current),
      Escape: () => zoom(frames[0]),
      "/": () => find("input").focus(),
    };
    for (const frame of frames) {
      frame.group.setAttribute("role", "button");
      frame.group.setAttribute("tabindex", frame === current ? 0 : -1);
      frame.group.onclick = () => {
        move(frame);
        zoom(frame);
      };
      frame.group.onpointerover = () => tell(frame);
      frame.group.onfocus = () => stand(frame);
    }
    find(".frames").addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
    find(".tools").style.display = "";
    find("input").oninput = () => search(find("input").value);
    find("button").onclick = () => zoom(frames[0]);
    addEventListener("resize", draw);
    draw();
  };
  for (const root of document.querySelectorAll("svg.flame")) start(root);
})();
)js";

}  // namespace

std::string_view flame_style() {
  return R"css(.flame{display:block;width:100%;font:12px system-ui,sans-serif}
.flame text{fill:var(--fg)}.flame .dim{fill:var(--dim)}.flame .head{font-size:15px;font-weight:600}
.flame .frames text{fill:#000;font:11px ui-monospace,monospace;pointer-events:none;white-space:pre}
.flame .frames rect{stroke:var(--bg)}.flame .frames>g{cursor:pointer;outline:none}
.flame .k0 rect{fill:#d0d0d0}.flame .k1 rect{fill:#f0e442}.flame .k2 rect{fill:#56b4e9}
.flame .k3 rect{fill:#d55e00}.flame .k4 rect{fill:#b0a8b9}
.flame .d0 rect{fill:#5a9fd4}.flame .d1 rect{fill:#92c5de}.flame .d2 rect{fill:#d1e5f0}
.flame .d3 rect{fill:#e4e4e4}.flame .d4 rect{fill:#fddbc7}.flame .d5 rect{fill:#f4a582}
.flame .d6 rect{fill:#e8735c}
.flame .above rect{fill-opacity:.5}.flame.searching .frames>g:not(.hit) rect{fill-opacity:.25}
.flame .frames>g:hover rect,.flame .frames>g:focus rect{stroke:var(--fg);stroke-width:2}
.flame .tools div{display:flex;gap:12px;align-items:center;height:32px;padding-left:4px;color:var(--fg)}
.flame .tools input,.flame .tools button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:6px;padding:3px 8px}
.flame .tools :focus-visible{outline:2px solid #0072b2}
)css";
}

std::string_view flame_script() { return kScript; }

}  // namespace fathom::render

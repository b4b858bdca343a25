// SPDX-License-Identifier: MIT
// What makes a flame graph answer: a click or Enter zooms, arrows walk, "/" searches. It becomes part of the SVG
// (flame_style.cc), which shows everything without it; so it asks for no file and knows only what flame_svg.cc writes:
// a <g> with <title> and <rect> for each frame, callers before those that they call.

// A block, so that no name of it becomes one of the page's that the picture is a part of.
{
  const letter = 6.7; // pixels that a letter takes, as kLetter of flame_svg.cc

  /**
   * @typedef {object} Frame
   * @property {SVGGElement} group
   * @property {SVGRectElement} rect
   * @property {string} title what is shown of it where it is pointed at
   * @property {Element | null} label the text in the box; null where there is no room
   * @property {string} name
   * @property {number} x in percent, as width
   * @property {number} width
   * @property {number} y
   * @property {Frame | null} caller
   * @property {Frame[]} called
   * @property {boolean} inside of what is zoomed to
   * @property {boolean} counted in the share of a search: it or one of its callers was found
   */

  /** @type {(group: SVGGElement) => Frame} */
  const readFrame = (group) => {
    const rect = /** @type {SVGRectElement} */ (group.querySelector("rect"));
    const title = group.querySelector("title")?.textContent ?? "";
    const number = (/** @type {string} */ name) => parseFloat(rect.getAttribute(name) ?? "");
    return {
      group,
      rect,
      title,
      label: group.querySelector("svg"),
      name: title.split("\n")[0] ?? "",
      x: number("x"),
      width: number("width"),
      y: number("y"),
      caller: null,
      called: [],
      inside: false,
      counted: false,
    };
  };

  // A frame's caller is the last one before it that stands higher in the picture.
  /** @type {(frames: Frame[]) => void} */
  const findCallers = (frames) => {
    /** @type {Frame[]} */
    const open = [];
    for (const frame of frames) {
      while (open.length > 0 && open[open.length - 1].y >= frame.y) open.pop();
      if (open.length > 0) {
        frame.caller = open[open.length - 1];
        frame.caller.called.push(frame);
      }
      open.push(frame);
    }
  };

  /** @type {(name: string, parent: Element) => Element} */
  const make = (name, parent) => parent.appendChild(document.createElementNS(parent.namespaceURI, name));

  // `room` is the picture's width in pixels.
  /** @type {(frame: Frame, x: number, width: number, room: number) => void} */
  const writeLabel = (frame, x, width, room) => {
    const letters = Math.floor(((width / 100) * room - 6) / letter);
    if (letters < 3) {
      frame.label?.remove();
      frame.label = null;
      return;
    }
    if (!frame.label) {
      frame.label = make("svg", frame.group);
      frame.label.setAttribute("y", String(frame.y));
      frame.label.setAttribute("height", frame.rect.getAttribute("height") ?? "");
      const text = make("text", frame.label);
      text.setAttribute("x", "3");
      text.setAttribute("y", "12");
    }
    frame.label.setAttribute("x", x + "%");
    frame.label.setAttribute("width", width + "%");
    const text = /** @type {Element} */ (frame.label.firstChild);
    text.textContent = frame.name.length <= letters ? frame.name : frame.name.slice(0, letters - 1) + "…";
  };

  class FlameGraph {
    /** @param {Element} root @param {Frame[]} frames at least the one of everything */
    constructor(root, frames) {
      this.root = root;
      this.frames = frames;
      this.shown = frames[0]; // has all of the width
      this.current = frames[0]; // what keys move from
    }

    // Boxes outside of what is shown go away; its callers stay, at full width, as the way back.
    draw() {
      const around = new Set();
      for (let frame = this.shown.caller; frame; frame = frame.caller) around.add(frame);
      const room = this.root.getBoundingClientRect().width || 1200;
      for (const frame of this.frames) {
        const above = around.has(frame);
        frame.inside = frame === this.shown || Boolean(frame.caller && frame.caller.inside);
        frame.group.style.display = above || frame.inside ? "" : "none";
        frame.group.classList.toggle("above", above);
        if (!above && !frame.inside) continue;
        const x = above ? 0 : ((frame.x - this.shown.x) / this.shown.width) * 100;
        const width = above ? 100 : (frame.width / this.shown.width) * 100;
        frame.rect.setAttribute("x", x + "%");
        frame.rect.setAttribute("width", width + "%");
        writeLabel(frame, x, width, room);
      }
    }

    /** @param {Frame} frame */
    zoom(frame) {
      this.shown = frame;
      this.draw();
    }

    /** @param {string} selector @param {string} text */
    write(selector, text) {
      const place = this.root.querySelector(selector);
      if (place) place.textContent = text;
    }

    /** @param {Frame} frame */
    tell(frame) {
      this.write(".detail", frame.title.replaceAll("\n", " · "));
    }

    // A frame that was found inside another one that was found adds nothing to the share.
    /** @param {string} words */
    search(words) {
      const wanted = words.trim().toLowerCase();
      let hits = 0;
      let share = 0;
      for (const frame of this.frames) {
        const hit = wanted !== "" && frame.caller !== null && frame.name.toLowerCase().includes(wanted);
        const within = Boolean(frame.caller && frame.caller.counted);
        frame.counted = within || hit;
        if (hit && !within) share += frame.width;
        if (hit) hits++;
        frame.group.classList.toggle("hit", hit);
      }
      this.root.classList.toggle("searching", wanted !== "");
      const found = `${hits} ${hits === 1 ? "frame" : "frames"}, ${share.toFixed(1)} % of the whole`;
      this.write("output", wanted === "" ? "" : found);
    }

    // One frame can be reached by Tab, the current one: arrows lead to the others.
    /** @param {Frame} frame */
    stand(frame) {
      this.current.group.setAttribute("tabindex", "-1");
      this.current = frame;
      this.current.group.setAttribute("tabindex", "0");
      this.tell(frame);
    }

    /** @param {Frame | null | undefined} to */
    move(to) {
      if (!to || to.group.style.display === "none") return;
      this.stand(to);
      to.group.focus();
    }

    /** @type {(steps: number) => Frame | undefined} */
    beside(steps) {
      const all = this.current.caller ? this.current.caller.called : [this.current];
      return all[all.indexOf(this.current) + steps];
    }

    /** @type {(input: HTMLInputElement) => Map<string, () => void>} */
    keys(input) {
      return new Map([
        ["ArrowDown", () => this.move(this.current.called[0])],
        ["ArrowUp", () => this.move(this.current.caller)],
        ["ArrowLeft", () => this.move(this.beside(-1))],
        ["ArrowRight", () => this.move(this.beside(1))],
        ["Home", () => this.move(this.frames[0])],
        ["Enter", () => this.zoom(this.current)],
        [" ", () => this.zoom(this.current)],
        ["Escape", () => this.zoom(this.frames[0])],
        ["/", () => input.focus()],
      ]);
    }

    listen() {
      for (const frame of this.frames) {
        frame.group.setAttribute("role", "button");
        frame.group.setAttribute("tabindex", frame === this.current ? "0" : "-1");
        frame.group.onclick = () => {
          this.move(frame);
          this.zoom(frame);
        };
        frame.group.onpointerover = () => this.tell(frame);
        frame.group.onfocus = () => this.stand(frame);
      }
      const input = /** @type {HTMLInputElement} */ (this.root.querySelector("input"));
      const button = /** @type {HTMLButtonElement} */ (this.root.querySelector("button"));
      const tools = /** @type {SVGElement} */ (this.root.querySelector(".tools"));
      const keys = this.keys(input);
      const boxes = /** @type {SVGGElement} */ (this.root.querySelector(".frames"));
      boxes.addEventListener("keydown", (event) => {
        const act = keys.get(event.key);
        if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        act();
      });
      tools.style.display = "";
      input.oninput = () => this.search(input.value);
      button.onclick = () => this.zoom(this.frames[0]);
      addEventListener("resize", () => this.draw());
    }
  }

  for (const root of document.querySelectorAll("svg.flame")) {
    const groups = /** @type {NodeListOf<SVGGElement>} */ (root.querySelectorAll(".frames > g"));
    const frames = [...groups].map(readFrame);
    if (frames.length === 0) continue;
    findCallers(frames);
    const graph = new FlameGraph(root, frames);
    graph.listen();
    graph.draw();
  }
}

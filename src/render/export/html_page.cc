// SPDX-License-Identifier: MIT
// Style and script of our pages, and the parts that they have in common. A page stands alone: it
// asks for nothing, and its policy forbids it to (default-src 'none'). Without the script
// everything is there; with it, tables sort and colours change.
#include "render/export/html_page.h"

#include "render/export/html_charts.h"
#include "render/row_text.h"

namespace fathom::render {
namespace {

constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d1d9e0;--card:#f6f8fa;
--c0:#0969da;--c1:#bf8700;--c2:#1a7f37;--c3:#8250df;--c4:#cf222e;--c5:#0f766e;--c6:#bc4c00;--c7:#6e7781;
--c8:#a40e73;--c9:#4d2d00}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;
--line:#3d444d;--card:#151b23;--c0:#4493f8;--c1:#d29922;--c2:#3fb950;--c3:#ab7df8;--c4:#f85149;--c5:#2dd4bf;
--c6:#f0883e;--c7:#9198a1;--c8:#f778ba;--c9:#d4a373}}
:root[data-theme=dark]{color-scheme:dark;--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;--card:#151b23;
--c0:#4493f8;--c1:#d29922;--c2:#3fb950;--c3:#ab7df8;--c4:#f85149;--c5:#2dd4bf;--c6:#f0883e;--c7:#9198a1;
--c8:#f778ba;--c9:#d4a373}
:root[data-theme=light]{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
main{padding:24px clamp(16px,3vw,48px) 64px}section>p{max-width:100ch}
h1{font-size:24px;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:18px;margin:0 0 12px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin:16px 0}
:not(svg)>svg{display:block;width:100%}svg line{stroke:var(--line)}
polyline{fill:none;stroke-width:1.6;vector-effect:non-scaling-stroke}
.axis{display:flex;justify-content:space-between}
.label{color:var(--dim);font-size:12px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13px;margin-top:8px}
th,td{padding:4px 10px 4px 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:anywhere}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid var(--c0)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;margin:8px 0 0;font-size:13px}
.legend span{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:6px}
.note{color:var(--dim);font-size:13px;margin:6px 0 0}.top{display:flex;justify-content:space-between;gap:16px}
#theme{height:32px;padding:0 12px;border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--fg);cursor:pointer}
@media print{section{break-inside:avoid}#theme{display:none}}
)css";

constexpr char kScript[] = R"js(
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.onclick = () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  for (const head of document.querySelectorAll("th")) {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.onclick = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = head.closest("table").tBodies[0];
      const rows = [...body.rows].sort(
        (a, b) => (down ? -1 : 1) * compare(key(a, head.cellIndex), key(b, head.cellIndex)));
      body.append(...rows);
    };
  }
})();
)js";

// A table without the column that the chart shows.
Table without_last(Table table) {
  table.columns.pop_back();
  for (auto& row : table.rows) row.pop_back();
  return table;
}

std::string drawn(const PageSection& section, std::int64_t wall_ns) {
  using enum PageSection::Shape;
  const Table& table = section.table;
  if (table.rows.empty()) return html_table(table);
  switch (section.shape) {
    case kTable:
      return html_table(table);
    case kSplit:
      return split_chart(table) + html_table(table);
    case kSeries:
      return line_chart(table, wall_ns) + html_table(without_last(table));
  }
  return "";
}

}  // namespace

std::string page_begin(const std::string& title) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'; script-src 'unsafe-inline'\"><title>" +
         html_text(title) + "</title><style>" + kStyle + "</style></head>\n<body><main>" +
         "<header class=\"top\"><h1>" + html_text(title) +
         "</h1><button id=\"theme\" type=\"button\" hidden>Light or dark</button></header>\n";
}

std::string page_end() {
  return "</main><script>" + std::string(kScript) + "</script></body></html>\n";
}

std::string page_words(const std::vector<std::string>& words) {
  std::string out = "<section id=\"words\"><h2>In words</h2>";
  for (const std::string& sentence : words) out += "<p>" + html_text(sentence) + "</p>";
  return out + "</section>\n";
}

std::string page_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string out = "<section id=\"run\"><h2>The run</h2><dl>";
  for (const auto& [key, value] : facts)
    out += "<dt>" + html_text(key) + "</dt><dd>" + html_text(value) + "</dd>";
  return out + "</dl></section>\n";
}

std::string page_section(const PageSection& section, std::int64_t wall_ns) {
  const std::string id = html_text(snake_case(section.table.title));
  std::string out = "<section id=\"" + id + "\" aria-labelledby=\"" + id + "-h\"><h2 id=\"" + id +
                    "-h\">" + html_text(section.table.title) + "</h2>" + drawn(section, wall_ns);
  for (const std::string& note : section.notes)
    out += "<p class=\"note\">" + html_text(note) + "</p>";
  return out + "</section>\n";
}

}  // namespace fathom::render

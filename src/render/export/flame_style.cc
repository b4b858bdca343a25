// SPDX-License-Identifier: MIT
// Style and script of flame graphs, apart from the picture that flame_svg.cc draws. Colours are
// Okabe and Ito's, or shades of red and blue: people who see fewer colours can tell them apart. The
// script is flame.js, a file of its own so that types and layout of it are checked
// (tools/check_web.py).
#include "render/export/flame_script.h"
#include "render/export/flame_svg.h"

namespace fathom::render {

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

std::string_view flame_script() { return flame_scripts().front().text; }

}  // namespace fathom::render

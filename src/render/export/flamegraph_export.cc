// SPDX-License-Identifier: MIT
// A flame graph as a file that a browser opens, from sampled stacks or recorded calls.
#include "render/export/exporter.h"
#include "render/export/flame_layout.h"
#include "render/export/flame_svg.h"
#include "render/export/flame_tree.h"

namespace fathom::render {
namespace {

Status write(EventStream& from, const StackChoice& choice, ByteSink& to) {
  FATHOM_ASSIGN(const FlameTree tree, load_flames(from, choice.weight));
  return to.write(flame_file(tree, lay_out(tree, choice.base)));
}

}  // namespace

extern const ExporterDef kFlamegraphExporter;
const ExporterDef kFlamegraphExporter = {
    .name = "flamegraph",
    .summary = "flame graph of CPU time (--weight) as SVG for a browser, with search and zoom",
    .gzip = Gzip::kNever,
    .by_thread = true,
    .compares = true,
    .write_stacks = write,
};

}  // namespace fathom::render

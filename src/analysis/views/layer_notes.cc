// SPDX-License-Identifier: MIT
// Layers inside the program add up: each leaves the calls of the others out of its own time. The
// kernel's layers are recorded beside them and know nothing of that.
#include "analysis/views/layer_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/view_tools.h"
#include "base/text.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {

void note_overlaps(Table& table) {
  const std::size_t at = column_of(table, "layer");
  if (at == table.columns.size()) return;
  std::vector<std::string> kernel;
  bool has_others = false;
  for (const auto& row : table.rows) {
    const std::string layer = text_of(row[at]);
    if (!trace::is_kernel(layer)) {
      has_others |= !layer.empty() && !trace::is_device(layer) && layer[0] != '(';
    } else if (std::ranges::find(kernel, layer) == kernel.end()) {
      kernel.push_back(layer);
    }
  }
  if (kernel.empty() || kernel.size() + (has_others ? 1 : 0) < 2) return;
  const std::string before = table.note.empty() ? "" : table.note + "; ";
  table.note = fmt::format(
      "{}layers of the kernel ({}) measure the same calls again, so shares can add up to more than "
      "100 %",
      before, join(kernel, ", "));
}

}  // namespace fathom::analysis

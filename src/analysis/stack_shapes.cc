// SPDX-License-Identifier: MIT
// Reads the frames sorted by stack and depth, outermost first, so that the rows of a stack follow
// each other and stacks that begin alike share nodes.
#include "analysis/stack_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cell.h"

namespace fathom::analysis {

Status StackShapes::load(Store& store, const std::string& samples_where) {
  std::int64_t open = 0;
  std::uint32_t node = StackTree::kRoot;
  return store.stream(
      fmt::format("SELECT DISTINCT stack, depth, coalesce(\"function\", 'unknown'), "
                  "coalesce(module, '') FROM frames WHERE stack IN (SELECT stack FROM samples "
                  "WHERE {}) ORDER BY ALL",
                  samples_where),
      [&](const Table& rows) -> Status {
        for (const auto& row : rows.rows) {
          const std::int64_t stack = int_of(row[0]);
          if (stack != open) node = StackTree::kRoot;
          open = stack;
          node = tree_.child(node, number_of(text_of(row[2]), text_of(row[3])));
          stacks_[stack] = node;
        }
        return {};
      });
}

std::vector<std::uint32_t> StackShapes::path(std::int64_t stack) const {
  const auto found = stacks_.find(stack);
  if (found == stacks_.end()) return {};
  std::vector<std::uint32_t> path = tree_.path(found->second);
  std::ranges::reverse(path);
  return path;
}

std::uint32_t StackShapes::number_of(std::string name, std::string module) {
  const auto next = static_cast<std::uint32_t>(functions_.size());
  const auto [found, fresh] = numbers_.try_emplace(name + '\n' + module, next);
  if (fresh) functions_.push_back({std::move(name), std::move(module)});
  return found->second;
}

}  // namespace fathom::analysis

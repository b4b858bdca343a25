// SPDX-License-Identifier: MIT
// The call tree, made of how events lie inside each other.
#pragma once

#include <string>
#include <vector>

namespace fathom::analysis {

// SELECT of the columns of `by` (host, pid, tid: a tree for each), depth, name, layer, calls,
// total, self, node, parent, path: from the outermost on; a call of a library as `read [posix]`.
[[nodiscard]] std::string tree_sql(const std::vector<std::string>& by);

}  // namespace fathom::analysis

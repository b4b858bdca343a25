// SPDX-License-Identifier: MIT
#include "cli/open_trace.h"

#include "sources/function_names.h"
#include "sources/leftovers.h"
#include "trace/recording.h"

namespace fathom::cli {

Result<analysis::Store> open_store(const std::string& path, analysis::StoreOptions options) {
  options.resolver = sources::function_names();
  sources::pack_leftovers(path, options.resolver);
  return analysis::Store::open(path, options);
}

Result<analysis::Store> open_sums(const std::string& path, const std::string& memory) {
  return analysis::Store::open(
      path, {.resolver = sources::function_names(), .need = trace::Need::kSums, .memory = memory});
}

Result<analysis::Info> open_info(const std::string& path) {
  return analysis::read_info(path, sources::function_names());
}

}  // namespace fathom::cli

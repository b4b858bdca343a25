// SPDX-License-Identifier: MIT
// The one way in which commands open recordings: limits on questions are set and the limit of open
// files raised before.
#include "cli/open_trace.h"

#include "base/file_limit.h"
#include "cli/named_trace.h"
#include "cli/question_guard.h"
#include "sources/function_names.h"
#include "trace/recording/recording.h"

namespace fathom::cli {
namespace {

Result<analysis::Store> guarded(Result<analysis::Store> store) {
  if (store) guard_store(*store);
  return store;
}

}  // namespace

Result<analysis::Store> open_store(const std::string& path, analysis::StoreOptions options) {
  guard_questions();
  FATHOM_ASSIGN(const std::string trace, find_trace(path));
  options.resolver = sources::function_names();
  options.memory = memory_of_store();
  raise_file_limit();  // each Parquet file of a recording is held open
  return guarded(analysis::Store::open(trace, options));
}

Result<analysis::Store> open_sums(const std::string& path) {
  return open_store(path, {.need = trace::Need::kSums});
}

Result<analysis::Info> open_info(const std::string& path) {
  FATHOM_ASSIGN(const std::string trace, find_trace(path));
  return analysis::read_info(trace, sources::function_names());
}

}  // namespace fathom::cli

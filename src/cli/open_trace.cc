// SPDX-License-Identifier: MIT
#include "cli/open_trace.h"

#include "sources/function_names.h"
#include "sources/library.h"
#include "trace/recording.h"

namespace fathom::cli {
namespace {

// What cannot be packed (a full disk, a damaged spool) is still read from where it is: the answer
// comes from memory then.
void pack_leftovers(const std::string& path, const trace::NameResolver& resolver) {
  const Result<std::string> library = sources::find_library();
  (void)trace::recover(path, {.resolver = resolver, .library = library ? *library : ""})
      .has_value();
}

}  // namespace

Result<analysis::Store> open_store(const std::string& path) {
  const trace::NameResolver resolver = sources::function_names();
  pack_leftovers(path, resolver);
  return analysis::Store::open(path, {.resolver = resolver});
}

Result<analysis::Store> open_sums(const std::string& path) {
  return analysis::Store::open(path,
                               {.resolver = sources::function_names(), .need = trace::Need::kSums});
}

Result<analysis::Info> open_info(const std::string& path) {
  const trace::NameResolver resolver = sources::function_names();
  pack_leftovers(path, resolver);
  return analysis::read_info(path, resolver);
}

}  // namespace fathom::cli

// SPDX-License-Identifier: MIT
// Stands for far_paths.cc in a build without the fleet, which has no client of HTTP: what is a URL
// is refused with what would have to be built, all else is a path as ever.
#include <algorithm>

#include "capi/far_paths.h"

namespace fathom::capi {
namespace {

bool is_url(const std::string& name) {
  return name.starts_with("http://") || name.starts_with("https://") ||
         name.starts_with("recording:");
}

}  // namespace

Result<NearPaths> bring_near(const std::vector<std::string>& names) {
  if (std::ranges::any_of(names, is_url))
    return Error{Code::kUnsupported, "this build of Fathom opens no recordings of servers",
                 "build it with Boost, OpenSSL and SQLite"};
  return NearPaths{names, {}};
}

}  // namespace fathom::capi

// SPDX-License-Identifier: MIT
// Events by thread and time, without sorting all of them at once: threads are taken together while
// they are small, and a long one is cut into stretches of time. Files hold threads apart and in
// order of time, so that each slice is read from a few row groups.
#pragma once

#include <functional>
#include <string>

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::convert {

// Calls `use` with one condition after the other: sorted by thread and time inside each slice, all
// slices together are sorted. `where` is " WHERE …" over the view events. An Error from `use` ends
// it and is returned.
Status each_slice(analysis::Store& store, const std::string& where,
                  const std::function<Status(const std::string& condition)>& use);

// The same with another number of rows in a slice. For tests.
Status each_slice(analysis::Store& store, const std::string& where, std::int64_t most_rows,
                  const std::function<Status(const std::string& condition)>& use);

}  // namespace fathom::convert

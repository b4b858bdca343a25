// SPDX-License-Identifier: MIT
// What a recording says about itself. Needs no database: it opens at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {

// One recording, or a directory of them.
struct Info {
  std::vector<trace::Part> parts;
  std::optional<std::int64_t> events;  // rows of `events`; nullopt while some are not packed
};
Result<Info> read_info(const std::string& path, const trace::NameResolver& resolver = {});

// For people: facts, layers, losses, processes not covered, calls in flight, damaged files; empty
// ones left out.
std::vector<Table> info_tables(const Info& info);

// For programs: one object; with several recordings, those stand under "recordings".
Value info_object(const Info& info);

}  // namespace fathom::analysis

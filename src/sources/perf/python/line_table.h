// SPDX-License-Identifier: MIT
// Which line of its file an instruction of Python belongs to, by the tables of code objects.
#pragma once

#include <cstdint>
#include <string_view>

#include "sources/perf/python/layout.h"

namespace fathom::sources {

// `offset` in bytes of the code. 0: the instruction belongs to no line. Any bytes are taken for a
// table: a damaged one gives another line, at worst.
[[nodiscard]] int line_at(LineFormat format, std::string_view table, int first_line,
                          std::uint64_t offset);

}  // namespace fathom::sources

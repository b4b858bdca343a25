// SPDX-License-Identifier: MIT
// Places in this process's own memory as places in the files that are mapped there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::sources::ebpf {

struct MappedPlace {
  std::uint64_t inode = 0;  // 0: of no file
  std::uint64_t offset = 0;
};

// By a text like /proc/self/maps. kNotFound: nothing is mapped there.
Result<MappedPlace> place_of(std::uint64_t address, std::string_view maps);

}  // namespace fathom::sources::ebpf

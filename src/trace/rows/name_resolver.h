// SPDX-License-Identifier: MIT
// Names for places in programs and libraries, of whoever can read their symbols (`symbols`, which
// stands beside this room and not below).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fathom::trace {

// One function at a place. An inlined one is a frame of its own.
struct NamedFrame {
  std::string function;
  std::string file;  // of its source; empty: not known
  int line = 0;      // 0: not known
};

struct NameResolver {
  // What lies so many bytes behind the start of a loaded module; "" where it is not known.
  std::function<std::string(const std::string& module, std::uint64_t offset)> function = {};
  // What lies at an offset of a module's file, outermost first; none where it is not known, or the
  // file is not the one with this build id ("": whichever it is).
  std::function<std::vector<NamedFrame>(const std::string& module, const std::string& build_id,
                                        std::uint64_t offset)>
      frames = {};
};

}  // namespace fathom::trace

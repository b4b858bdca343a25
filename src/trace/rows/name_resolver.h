// SPDX-License-Identifier: MIT
// Names for places in programs and libraries, of whoever can read their symbols (`symbols`, which
// stands beside this room and not below).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fathom::trace {

// One function at a place. An inlined one is a frame of its own.
struct NamedFrame {
  std::string function;
  std::string file;  // of its source; empty: not known
  int line = 0;      // 0: not known
};

// A place in a module's file, as it was sampled.
struct CodePlace {
  std::string module;
  std::string build_id;  // hexadecimal; "": whichever file has that path
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> address = {};  // as the file numbers its code, where that is known
};

// What is known of a place.
struct NamedPlace {
  bool readable = false;  // false: there is no such file any more, or it is damaged
  std::optional<std::uint64_t> address = {};
  std::vector<NamedFrame> frames = {};  // outermost first; none where there is no name
};

// Two functions, either of which may be missing: nobody is asked then. Called by the thread that
// decodes or packs. Whoever makes them owns what they read.
struct NameResolver {
  // What lies so many bytes behind the start of a loaded module; "" where it is not known.
  std::function<std::string(const std::string& module, std::uint64_t offset)> function = {};
  // What lies at a place. A file that is not the one with the build id gives no name.
  std::function<NamedPlace(const CodePlace& place)> frames = {};
};

}  // namespace fathom::trace

// SPDX-License-Identifier: MIT
// Layers tell of the same bytes again: a system call those of the library's call around it, a copy
// of a device those of the call that asked for it. They are on tracks of their own, where nothing
// shows what is inside what, so each process has its bytes told by some layers alone:
//   - those through which the program asks (posix, stdio), as in heat maps; of a process that has
//     none of these, the outermost layer of the kernel that tells of bytes;
//   - of a driver's calls and its device, whichever tells of more: a graph copies without a call.
// All other layers tell, too: where their calls nest, the tree has each byte once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/canvas/track.h"

namespace fathom::analysis {

// One thread at a time.
class ByteTellers {
 public:
  // Whether bytes of this layer may be told by another one, too.
  [[nodiscard]] static bool is_shared(std::string_view layer);

  // All bytes come first; then it can be asked.
  void add(const Track& track, std::string_view layer, std::int64_t bytes);
  [[nodiscard]] bool tells(const Track& track, std::string_view layer) const;

 private:
  struct Process {
    std::int64_t asked = 0;     // by layers of I/O
    int outermost = INT32_MAX;  // the rank of a layer of the kernel
    std::int64_t driver = 0, device = 0;
  };
  using Key = std::pair<std::string, std::int64_t>;  // host, pid
  static Key key_of(const Track& track) { return {track.host, track.pid.value_or(-1)}; }

  std::map<Key, Process> processes_;
};

}  // namespace fathom::analysis

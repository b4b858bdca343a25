// SPDX-License-Identifier: MIT
// What a process says of the code that it made at run time: its perf map, and jitdump files that it
// maps. Both grow while it runs, and may be removed when it ends; so they are opened when first
// needed, read on from where they were read, and once more at its end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "symbols/jitdump.h"
#include "symbols/perf_map.h"

namespace fathom::symbols {

// Where a process leaves such files, and whose they must be.
struct JitPlace {
  Fd root;              // of its file system
  pid_t inner_pid = 0;  // as it knows itself
  uid_t owner = 0;
  std::int64_t since_ns =
      0;  // of the real-time clock: a file of before is that of an earlier process

  // As the process sees it, in a container too. Of one that has ended already: as we see it, and
  // only files of ours or of root. `started_ns` by the monotonic clock.
  static JitPlace of_process(pid_t pid, std::int64_t started_ns);
};

// One thread at a time.
class JitCode {
 public:
  explicit JitCode(JitPlace place) : place_(std::move(place)) {}

  // A jitdump file that it mapped, which had this inode.
  void add_dump(const std::string& path, std::uint64_t inode);
  // Reads what was written since the last time. `now` by the monotonic clock, as all times below.
  void refresh(std::uint64_t now);
  // The last look: it has ended, or is another program.
  void end(std::uint64_t now);

  struct Answer {
    enum class Kind : std::uint8_t { kName, kLater, kNone };
    Kind kind = Kind::kNone;  // kLater: it may still tell
    std::string function = {};
    std::string file = {};
    int line = 0;
  };
  [[nodiscard]] Answer find(std::uint64_t address, std::uint64_t time) const;
  // Another one each time that something new was read.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  void open_map();
  void read_map(std::uint64_t now);
  void read_dump(std::uint64_t now);

  JitPlace place_;
  std::optional<File> map_file_;
  std::uint64_t map_read_ = 0;  // bytes
  PerfMap map_;
  std::optional<File> dump_file_;
  std::uint64_t dump_read_ = 0;     // bytes,
  std::uint64_t dump_read_at_ = 0;  // and when
  std::optional<Jitdump> dump_;
  std::uint64_t version_ = 0;
  bool ended_ = false;
};

}  // namespace fathom::symbols

// SPDX-License-Identifier: MIT
// What a daemon leaves for the one that follows it, beside its socket: until when it worked, and
// whom it recorded. Renewed each second, so that it is there whatever ends the daemon: written when
// somebody came or went, and else touched, since the time of the file tells the same.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/source.h"

namespace fathom::session {

// A process by what no other has: its number alone may be given again.
struct KnownProcess {
  pid_t pid = 0;
  std::int64_t started = 0;  // as /proc/PID/stat tells it: another process of this number differs
  bool operator==(const KnownProcess&) const = default;
};

// Whom a daemon records, as it leaves that to the next one.
struct WatchState {
  std::string boot;           // of the machine
  std::int64_t alive_ns = 0;  // realtime
  std::vector<KnownProcess> processes;
};

std::string format_watch_state(const WatchState& state);
// kCorrupt where it is none.
Result<WatchState> parse_watch_state(std::string_view text);

// When the process was started; nothing where there is none.
std::optional<std::int64_t> start_of(pid_t process);
// Field 22 of a text like /proc/PID/stat, and field 4, the parent.
std::optional<std::int64_t> start_in_stat(std::string_view stat);
std::optional<pid_t> parent_in_stat(std::string_view stat);

// Those of the state that still live, and what they made meanwhile; nobody after another boot.
std::vector<pid_t> survivors(const WatchState& state);

// Whom a daemon records. /proc is asked once about each, however often the roll is called.
class Roll {
 public:
  // Of these processes, now; those who are not among them are forgotten.
  WatchState call(const std::vector<sources::Followed>& processes);
  // The same, left for the next daemon.
  Status save(const std::string& socket, const std::vector<sources::Followed>& processes);

 private:
  std::string boot_;
  std::optional<std::vector<KnownProcess>> saved_;
  std::map<sources::Followed, std::int64_t> started_;
};

// Replaces what was there, as a whole or not at all; only its owner can read it.
Status save_watch_state(const std::string& socket, const WatchState& state);
// Nothing where no daemon left anything, or what it left is damaged.
std::optional<WatchState> load_watch_state(const std::string& socket);

}  // namespace fathom::session

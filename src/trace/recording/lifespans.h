// SPDX-License-Identifier: MIT
// When each program image of a process began and ended: from what it told itself, what its parent
// saw, and who had its pid before and after it.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "trace/recording/pid_index.h"
#include "trace/rows/clock.h"
#include "trace/rows/definitions.h"

namespace fathom::trace {

// What the recorder itself knows of the program that it started: its pid and its status as in
// `processes.exit`, kNull while that is not known.
using KnownExits = std::map<std::int64_t, std::int64_t>;

// Of one program image; kNull is what nobody told.
struct Lifespan {
  std::int64_t start = kNull;  // images of one pid never overlap
  std::int64_t end = kNull;
  std::int64_t exit = kNull;
  std::int64_t image = 0;  // images of the same process before this one
};

// The index must stay as long as this.
class Lifespans {
 public:
  Lifespans(const PidIndex& index, const Clock& clock, const KnownExits& exits);

  [[nodiscard]] const Lifespan& of(const Process& process) const { return lives_.at(&process); }

 private:
  void tell(const PidIndex::Images& images, const Clock& clock, const KnownExits& exits);
  [[nodiscard]] Lifespan begun(const Process& process, const Process* before,
                               const Clock& clock) const;
  void end(const Process& process, std::uint64_t until, const Clock& clock, Lifespan& life) const;
  [[nodiscard]] const Note* started_by_parent(const Process& process, const Process* before) const;

  const PidIndex* index_;
  std::unordered_map<const Process*, Lifespan> lives_;
};

// The last EXEC of the process itself, unless it failed; nullptr if there is none.
[[nodiscard]] const Note* own_exec(const Process& process);

// The last moment that was recorded of any process; 0: nothing was.
[[nodiscard]] std::uint64_t last_tick_of(const Definitions& definitions);

// Whether the process said that it ends or becomes another program: calls that its threads were in
// then were cut by that.
[[nodiscard]] bool ended_in_order(const Process& process);

}  // namespace fathom::trace

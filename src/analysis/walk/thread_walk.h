// SPDX-License-Identifier: MIT
// One pass over all events: those of a thread in the order in which they began, each with the one
// that it lies in. Memory is that of the threads and of what they have open, whatever the number of
// events.
//
// Files hold the events of a thread in that order, but an event stands in the file that was written
// when it had ended, behind those inside it. So a first pass keeps what comes too late, which is
// what was open when a file was full; where that is a lot (a trace that was imported unsorted), the
// database sorts instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct WalkThread {
  std::optional<std::string> host;
  std::optional<std::int64_t> pid, tid;
};

// What events are called. `call` tells layer and name apart, whatever the category.
struct WalkKind {
  std::optional<std::string> layer, name, category;
  std::uint32_t call = 0;
};

// An event as passes see it: `thread` and `kind` are numbers that the visitor was told of.
struct WalkEvent {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::int64_t self = 0;
  std::int64_t depth = 0;
  std::uint32_t thread = 0;
  std::uint32_t kind = 0;

  [[nodiscard]] std::int64_t end() const { return ts + dur; }
  [[nodiscard]] bool has_inner() const { return self < dur; }
};

// An event that is open, with what the visitor gave for it.
struct WalkFrame {
  WalkEvent event;
  std::uint32_t tag = 0;
};

// Is told of every thread and kind before their first event.
class WalkVisitor {
 public:
  virtual ~WalkVisitor() = default;
  virtual void add_thread(const WalkThread& thread) = 0;  // numbered from 0
  virtual void add_kind(const WalkKind& kind) = 0;        // numbered from 0
  // `around` is the innermost event that this one lies in, nullptr where there is none. What is
  // returned is its tag, where there are events inside.
  virtual std::uint32_t enter(const WalkEvent& event, const WalkFrame* around) = 0;
};

struct WalkOptions {
  std::size_t most_late = std::size_t{1} << 20U;  // beyond that the database sorts
  const char* where = "true";                     // the events that are met
};

// Calls the visitor from this thread alone. Returns the store's Error; what the visitor got before
// it is not to be used.
Status walk_threads(Store& store, WalkVisitor& visitor, const WalkOptions& options = {});

}  // namespace fathom::analysis

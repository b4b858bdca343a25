// SPDX-License-Identifier: MIT
// What host threads did while a device was idle: the innermost event of the thread that launched
// the next work, at each moment of the gap before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/walk/thread_walk.h"

namespace fathom::analysis {

// What a device's time went to.
enum class Idle : std::uint8_t {
  kBusy,     // it worked
  kSync,     // the thread waited for the device
  kDriver,   // was in another call of the driver
  kData,     // in a region or function that loads data, or in anything inside one
  kIo,       // in a call of posix or stdio
  kWait,     // waiting for another process or a descriptor
  kSystem,   // in the kernel
  kPython,   // in a function of Python
  kRegion,   // in a region or a probed function
  kNothing,  // in nothing that was recorded
  kLaunch,   // in the very call that launched the work
  kStart,    // the call had returned, the work had not begun
  kQueued,   // the work had been launched before the gap began: it waited for other work
  kUnknown,  // who launched the work was not recorded
};
[[nodiscard]] std::string_view name_of(Idle cause);

// Of an event that is the innermost one of its thread.
[[nodiscard]] Idle cause_of(const WalkKind& kind);

// A stretch of time of a thread: an event of it, or a gap of a device that it is to fill.
struct IdlePiece {
  static constexpr std::uint32_t kGap = 1U << 31U;

  std::int64_t ts = 0;
  std::int64_t end = 0;
  std::uint32_t thread = 0;
  std::uint32_t what = 0;  // the event's kind, or kGap and the device

  // A thread's after another's, in the order in which they begin, outer ones first.
  bool operator<(const IdlePiece& other) const {
    return std::tie(thread, ts, other.end) < std::tie(other.thread, other.ts, end);
  }
};

// Takes pieces in their order.
class IdleSweep {
 public:
  struct Key {
    std::uint32_t device = 0;
    Idle cause = Idle::kUnknown;
    std::optional<std::uint32_t> kind = {};  // of the innermost event
    bool operator<(const Key& other) const {
      return std::tie(device, cause, kind) < std::tie(other.device, other.cause, other.kind);
    }
  };
  struct Time {
    std::int64_t total = 0;
    std::int64_t stretches = 0;
    std::int64_t longest = 0;
    std::int64_t longest_at = 0;  // when that one began
    void add(std::int64_t begin, std::int64_t stretch);
  };

  void add_kind(const WalkKind& kind) { causes_.push_back(cause_of(kind)); }
  void take(const IdlePiece& piece);
  void finish();
  // What needs no thread's events.
  void add(const Key& key, std::int64_t begin, std::int64_t stretch);

  [[nodiscard]] const std::map<Key, Time>& times() const { return times_; }

 private:
  struct Gap {
    std::int64_t end;
    std::uint32_t device;
    std::optional<Key> in;  // since when the same was done, and for how long
    std::int64_t since = 0;
    std::int64_t stretch = 0;
  };
  struct Frame {
    std::int64_t end;
    std::uint32_t kind;
    bool loads_data;  // it, or what it lies in
  };

  void advance(std::int64_t until);
  void fill_gaps(std::int64_t until);
  void close(Gap& gap);
  [[nodiscard]] Key key_of(std::uint32_t device) const;

  std::vector<Idle> causes_;  // by kind
  std::uint32_t thread_ = 0;
  std::int64_t now_ = 0;
  std::vector<Gap> gaps_;
  std::vector<Frame> frames_;
  std::map<Key, Time> times_;
};

}  // namespace fathom::analysis

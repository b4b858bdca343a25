// SPDX-License-Identifier: MIT
// Jitdump: a binary file in which JITs tell which function they put where, and when, with source
// lines (`jit-PID.dump`, which they map so that profilers see it). Memory is used again: which
// function was there is a question of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::symbols {

// Texts live as long as this.
class Jitdump {
 public:
  // kCorrupt: no such file; kUnsupported: of another byte order, or with times that are not those
  // of the clock. What was written when the program ended may be cut: records before it count.
  static Result<Jitdump> parse(std::string bytes);

  struct Found {
    std::string_view function;  // "": nothing is known
    std::string_view file;
    int line = 0;
  };
  // `time` in ns of CLOCK_MONOTONIC.
  [[nodiscard]] Found find(std::uint64_t address, std::uint64_t time) const;
  // Of the last record: what comes later may say otherwise for times behind it.
  [[nodiscard]] std::uint64_t last_time() const { return last_time_; }
  [[nodiscard]] std::size_t functions() const { return codes_.size(); }

 private:
  friend class JitdumpReader;
  struct Line {
    std::uint64_t address = 0;
    std::string_view file;
    std::uint32_t line = 0;
  };
  // A function at a place, until something else was put over it.
  struct Code {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t since = 0;
    std::uint64_t until = ~std::uint64_t{0};
    std::uint64_t lines_at = 0;  // the address that its lines were told for
    std::uint32_t lines = 0;     // an index; the first are none
    std::string_view function;
  };
  // All that ever began at one address, by time.
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t reach = 0;  // the farthest end of this and all before
    std::size_t first = 0;    // in codes_
    std::size_t count = 0;
  };

  [[nodiscard]] Found found_in(const Code& code, std::uint64_t address) const;

  std::unique_ptr<std::string> bytes_;
  std::vector<std::vector<Line>> lines_{1};
  std::vector<Code> codes_;
  std::vector<Place> places_;
  std::uint64_t last_time_ = 0;
};

}  // namespace fathom::symbols

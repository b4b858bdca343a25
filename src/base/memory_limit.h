// SPDX-License-Identifier: MIT
// How much a question may make this process grow: one rule for the command line and for programs
// that ask through the library. The database counts only its own memory; names, rows and passes in
// C++ count here, too.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom {

// A value. It stops nobody: whoever answers a question has a thread that looks every kLookNs, and
// ends the question. begin() comes before the first look.
class MemoryLimit {
 public:
  static constexpr std::int64_t kLookNs = 20'000'000;       // between two looks by whoever watches
  static constexpr std::uint64_t kOwnRoom = 128ULL << 20U;  // what we need beside the database

  // 0: half of what this process may have.
  explicit MemoryLimit(std::uint64_t bytes = 0);
  // "2GB". What is no limit, or too little to open anything, is a usage error of `option`.
  static Result<MemoryLimit> parse(const std::string& option, const std::string& text);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // What the database may take of it, as StoreOptions::memory wants it.
  [[nodiscard]] std::string of_store() const;
  // What the process has by now does not count. A further call begins anew.
  void begin();
  // Whether the process has grown by more than the limit and so many rooms of our own; false before
  // begin().
  [[nodiscard]] bool is_exceeded(std::uint64_t rooms = 1) const;
  // One allocation can take everything before anybody looks, and some functions of the database
  // never look up: from now on, what is far beyond the limit fails to be allocated.
  void bound_process() const;
  // What the user is told then; `work` is what needs more, as "the query".
  [[nodiscard]] Error refusal(const std::string& work, std::string hint) const;

 private:
  std::uint64_t bytes_;
  std::uint64_t before_ = 0;  // bytes of this process at begin()
  bool begun_ = false;
};

}  // namespace fathom

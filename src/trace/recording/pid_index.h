// SPDX-License-Identifier: MIT
// Who had a pid, who waited for it and who started it: there may be very many processes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/rows/definitions.h"

namespace fathom::trace {

// Keeps pointers into the definitions, which must not change meanwhile.
class PidIndex {
 public:
  // A pid as the recording has it. Where only the number in a pid namespace is known, that
  // namespace stands above it: equal numbers of two of them are two processes.
  using Address = std::int64_t;
  using Images = std::vector<const Process*>;
  using Notes = std::vector<const Note*>;

  explicit PidIndex(const Definitions& definitions);

  // In the order of their starts.
  [[nodiscard]] const std::unordered_map<Address, Images>& images() const { return images_; }
  [[nodiscard]] const Notes& waits(Address address) const;
  [[nodiscard]] const Notes& spawns(Address address) const;
  // The first wait for a child of this number after it began; nullptr: nobody waited.
  [[nodiscard]] const Note* waited_for(Address address, std::uint64_t since) const;
  // Whether the program of an EXEC note came up with the library in it.
  [[nodiscard]] bool attached_after(const Process& teller, const Note& exec) const;

  [[nodiscard]] InnerPid inner(const Process& process) const;
  [[nodiscard]] Address address(const Process& process) const;
  // Whom a process means by a number: it may count otherwise than the recording does.
  [[nodiscard]] Address meant(const Process& teller, const Note& note) const;
  // Its parent's pid, in the recording's numbers; kNull where that is not known.
  [[nodiscard]] std::int64_t parent_pid(const Process& process) const;

 private:
  void add_notes(const Process& process);
  [[nodiscard]] const Process* find_inner(std::uint32_t space, std::int64_t number,
                                          std::uint64_t tick) const;
  [[nodiscard]] const Process* child_beneath(const Process& teller, std::uint64_t tick) const;
  void find_parents(const Images& images);

  const Definitions* definitions_;
  std::unordered_map<Address, Images> images_;
  std::unordered_map<Address, Notes> waits_;
  std::unordered_map<Address, Notes> spawns_;
  std::unordered_map<const Process*, InnerPid> inner_;        // those that have one
  std::unordered_map<const Process*, std::int64_t> parents_;  // of the same: pids
  std::unordered_map<Address, Images> by_inner_;              // by number and namespace
  std::unordered_map<std::uint64_t, Images> beneath_;         // the same, by their parent's key
};

// The first of them from `since` on, and before `until`; nullptr: none.
[[nodiscard]] const Note* first_between(const PidIndex::Notes& notes, std::uint64_t since,
                                        std::uint64_t until);

// When it was first heard of; UINT64_MAX: never.
[[nodiscard]] std::uint64_t first_tick_of(const Process& process);

// A program that was loaded, in contrast to a copy of one.
[[nodiscard]] bool is_program(const Process& process);

// 128 + N for signal N, as a shell says it.
[[nodiscard]] std::int64_t exit_of_wait_status(std::int64_t status);

}  // namespace fathom::trace

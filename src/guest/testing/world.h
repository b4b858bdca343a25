// SPDX-License-Identifier: MIT
// A process that records, for unit tests of the runtime: a spool of its own, no hooks. One for the
// whole test program, since the runtime's state is the process's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wire/record.h"

namespace fathom::guest::testing {

// What a spool holds, read by rules of docs/formats/spool.md and not by the writer's code.
struct Run {  // what follows a SWITCH
  std::uint64_t process = 0;
  std::uint64_t thread = 0;  // ordinal
  std::uint64_t cursor = 0;
  std::vector<std::uint64_t> names;  // ids of THREAD_NAME records, which tests write as marks
  std::vector<std::pair<std::uint16_t, fathom_sums>> sums;  // by kind
};
struct Contents {
  std::vector<Run> runs;
  std::map<std::uint64_t, std::string> texts;  // STRING definitions of this process by id
  bool damaged = false;
};

// Attaches when first called.
void enter_world();
// The same, in the spool of a run that others read. Pools that are made here say that `creator`
// made them; this thread's records are its own process's.
void enter_spool(const std::string& directory, int creator);
void be_thread_of_this_process();  // in each further thread then
void become_child();               // after fork(), in the child
Contents read_spool();
std::uint64_t losses(unsigned source, unsigned reason);
// Until a refusal of room is forgotten, by the clock that the runtime asks: that one may be late.
void outlast_refusals();
// While one exists, no further pool is made.
class NoMorePools {
 public:
  NoMorePools();
  ~NoMorePools();
  NoMorePools(const NoMorePools&) = delete;
  NoMorePools& operator=(const NoMorePools&) = delete;
};

}  // namespace fathom::guest::testing

// SPDX-License-Identifier: MIT
// Rows of `processes` and `threads` out of what the processes told, and the programs that could not
// be recorded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/recording/lifespans.h"
#include "trace/recording/manifest.h"
#include "trace/rows/batch.h"
#include "trace/rows/clock.h"
#include "trace/rows/definitions.h"

namespace fathom::trace {

KnownExits known_exits(const Manifest& manifest);

// The container that all of a recording ran in, as a fact of its manifest: processes that cannot
// tell theirs, or were seen from outside alone, were there too.
inline constexpr char kContainerFact[] = "container";
template <class Row>
void name_container(const Manifest& manifest, std::vector<Row>& rows) {
  const auto known = manifest.facts.find(kContainerFact);
  if (known == manifest.facts.end()) return;
  for (Row& row : rows) {
    if (row.container.empty()) row.container = known->second;
  }
}

// All processes as they are known now. Keeps pointers into the definitions, which must not change
// meanwhile.
struct Population {
  Population(Definitions& all, const Clock& by, KnownExits known)
      : definitions(&all),
        clock(&by),
        exits(std::move(known)),
        index(all),
        lives(index, by, exits) {}
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;

  Definitions* definitions;
  const Clock* clock;
  KnownExits exits;
  PidIndex index;
  Lifespans lives;
};

// `kBare`: without texts, for who only counts.
enum class Detail : std::uint8_t { kBare, kWhole };
std::vector<ProcessRow> process_rows(const Population& all, const std::string& host,
                                     Detail detail = Detail::kWhole);
// The program that was run, as its recorder knows it, unless a row tells of it: it may be one that
// the library could not enter.
void add_program(const Manifest& manifest, std::int64_t recorder, std::vector<ProcessRow>& rows);
std::vector<ThreadRow> thread_rows(const Population& all, const std::string& host);
// The order of thread_rows().
void sort_threads(std::vector<ThreadRow>& rows);
// When the last of them ended; 0 where none did.
template <class Row>
[[nodiscard]] std::int64_t last_end(const std::vector<Row>& rows) {
  std::int64_t last = 0;
  for (const Row& row : rows) last = row.end == kNull ? last : std::max(last, row.end);
  return last;
}

// Whether a process of this number attached.
[[nodiscard]] bool has_process(const Definitions& definitions, std::int64_t pid);

// Programs that were started and never attached. Looks at the program's file for the reason.
std::vector<NotCovered> not_covered(const Population& all, const std::string& library);

}  // namespace fathom::trace

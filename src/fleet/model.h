// SPDX-License-Identifier: MIT
// What a fleet keeps: jobs, and under each the sums of a profile and records of some kinds.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::fleet {

struct Job {
  std::string name;
  std::string info;
  std::int64_t benchmarks = 0;  // how many records of benchmarks it has
};

// A sum: of all that was sent of this function, executable and event.
struct ProfileRow {
  std::string node;  // a function
  std::string exec;  // the file that it lies in
  std::string event;
  std::int64_t count = 0;  // at least 0
  bool operator==(const ProfileRow&) const = default;
};

// Who sent a batch, and which of theirs it is: the same one again counts once. Numbers count within
// a job, for the profile and for each kind of record on its own, and may come in any order.
struct BatchId {
  std::string client;
  std::int64_t seq = 0;  // at least 0
};

// Added in whole or not at all, and once, by its id.
struct ProfileBatch {
  BatchId id;
  std::vector<ProfileRow> rows;
};

// Records are JSON objects, kept and given back as they came. They are numbered from 0.
struct RecordBatch {
  BatchId id;
  std::vector<std::string> records;
};

inline constexpr std::string_view kBenchmarks = "benchmark";  // the kind that needs no registering

// A kind of record that somebody made up.
struct RecordKind {
  std::string name;
  std::string schema;  // JSON Schema that its records were checked against
};

// Batches that a client sent, `first` to `last`; `kind` is "" for those of a profile.
struct SentRange {
  std::string kind;
  std::string client;
  std::int64_t first = 0;
  std::int64_t last = 0;
  auto operator<=>(const SentRange&) const = default;
};

// `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`: names of jobs and of kinds. No path or key can hide in one.
[[nodiscard]] bool is_job_name(std::string_view name);

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// The names of what Fathom keeps in Redis (docs/formats/jobs.md). All keys of a job have its name
// in braces, so that a cluster keeps them on one node and a script can change them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::fleet {

inline constexpr std::string_view kRedisJobs = "fathom:jobs";    // hash: name -> its token
inline constexpr std::string_view kRedisKinds = "fathom:kinds";  // hash: name -> schema

// Computed once for a job, since each of its requests names most of them.
struct RedisKeys {
  explicit RedisKeys(std::string_view job);
  std::string job;      // hash: info, benchmark, 0, 1, …
  std::string token;    // which of all jobs that ever had the name
  std::string nodes;    // sorted set: all nodes, as index_of()
  std::string senders;  // set: KIND:CLIENT
  std::string kinds;    // set: kinds that there are records of
  std::string bound;    // the sum of all counts that were ever added
  std::string verdict;  // while a batch in parts is being added
  std::string prefix;   // fathom:{JOB}:

  // Hash: execname and the events. The executable ends at the first colon.
  [[nodiscard]] std::string node(std::string_view node, std::string_view exec) const;
  // Sorted set: LAST:FIRST of ranges of numbers.
  [[nodiscard]] std::string sent(std::string_view sender) const;
  [[nodiscard]] std::string records(std::string_view kind) const;  // list
};

// A node and its executable as one text that sorts as the two do.
[[nodiscard]] std::string index_of(std::string_view node, std::string_view exec);
// False: it is none.
bool read_index(std::string_view index, std::string& node, std::string& exec);

// A number from 0 as 19 digits, which sort as the numbers do.
[[nodiscard]] std::string digits_of(std::int64_t number);

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// Parses the text that Darshan's own tools print. Its binary logs go through those tools first
// (darshan_log.cc).
#include "analysis/import/darshan_line.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "analysis/import/line_words.h"
#include "analysis/import/pfw_facts.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::string_view kTotal = "total_";

template <class T>
bool read_number(std::string_view text, T& number) {
  const std::optional<T> found = number_in<T>(text);
  number = found.value_or(number);
  return found.has_value();
}

// What stands behind "key: ", or nothing.
std::optional<std::string_view> said_of(std::string_view comment, std::string_view key) {
  if (!comment.starts_with(key)) return {};
  return trim(comment.substr(key.size()));
}

// Prefixes are not always the module: MPI-IO's counters are called MPIIO_….
std::string_view without_prefix(std::string_view counter) {
  for (const std::string_view prefix : {"PNETCDF_FILE_", "PNETCDF_VAR_"}) {
    if (counter.starts_with(prefix)) return counter.substr(prefix.size());
  }
  const std::size_t bar = counter.find('_');
  return bar == std::string_view::npos ? counter : counter.substr(bar + 1);
}

// "total_POSIX_OPENS: 2"
std::optional<DarshanCounter> parse_total(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return {};
  DarshanCounter counter;
  counter.total = true;
  counter.full_name = line.substr(kTotal.size(), colon - kTotal.size());
  counter.name = without_prefix(counter.full_name);
  const std::size_t prefix = counter.full_name.size() - counter.name.size();
  counter.module = counter.full_name.substr(0, prefix == 0 ? 0 : prefix - 1);
  if (counter.module == "MPIIO") counter.module = "MPI-IO";
  counter.value = trim(line.substr(colon + 2));
  if (counter.module.empty() || counter.name.empty() || counter.value.empty()) return {};
  return counter;
}

}  // namespace

void DarshanJob::learn(std::string_view comment) {
  comment = trim(comment.substr(std::min(comment.find_first_not_of('#'), comment.size())));
  if (const auto text = said_of(comment, "exe:")) command = *text;
  if (const auto text = said_of(comment, "jobid:")) job_id = *text;
  if (const auto text = said_of(comment, "darshan log version:")) version = *text;
  if (const auto text = said_of(comment, "nprocs:")) (void)read_number(*text, processes);
  if (const auto text = said_of(comment, "start_time:"))
    start_ns = scaled(*text, kNsPerSecond).value_or(0);
  if (const auto text = said_of(comment, "run time:"))
    run_ns = scaled(*text, kNsPerSecond).value_or(0);
}

std::optional<DarshanCounter> parse_darshan_counter(std::string_view line) {
  if (line.starts_with(kTotal)) return parse_total(line);
  const std::vector<std::string_view> columns = split(line, '\t');
  if (columns.size() != 8) return {};
  DarshanCounter counter;
  counter.module = columns[0];
  counter.full_name = columns[3];
  counter.name = without_prefix(columns[3]);
  counter.value = columns[4];
  counter.file = columns[5];
  constexpr std::int64_t kMostRanks = std::numeric_limits<std::int32_t>::max();
  const bool sound = read_number(columns[1], counter.rank) && counter.rank >= -1 &&
                     counter.rank < kMostRanks && read_number(columns[2], counter.record);
  if (!sound || counter.module.empty() || counter.name.empty()) return {};
  return counter;
}

std::optional<DarshanAccess> parse_darshan_access(std::string_view line) {
  constexpr std::size_t kColumns = 8;  // what stands behind them are Lustre's targets
  const std::vector<std::string_view> words = words_of_line(line);
  if (words.size() < kColumns) return {};
  DarshanAccess access;
  access.posix = words[0] == "X_POSIX";
  if (!access.posix && words[0] != "X_MPIIO") return {};
  access.write = words[2] == "write";
  if (!access.write && words[2] != "read") return {};
  const std::optional<std::int64_t> begin = scaled(words[6], kNsPerSecond);
  const std::optional<std::int64_t> end = scaled(words[7], kNsPerSecond);
  const bool sound = read_number(words[1], access.rank) && access.rank >= 0 &&
                     read_number(words[4], access.offset) && read_number(words[5], access.bytes) &&
                     access.bytes >= 0 && begin && end && *begin >= 0 && *end >= *begin;
  if (!sound) return {};
  access.begin_ns = *begin;
  access.end_ns = *end;
  return access;
}

bool is_darshan_log(std::string_view head) {
  // Eight bytes of version, then the number that Darshan calls magic, in the writer's byte order.
  constexpr std::uint64_t kMagic = 6567223;
  constexpr std::size_t kAt = 8;
  std::uint64_t number = 0;
  if (head.size() < kAt + sizeof number) return false;
  std::memcpy(&number, head.data() + kAt, sizeof number);
  return number == kMagic || __builtin_bswap64(number) == kMagic;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: MIT
// Sorts and adds up rows before they are cut, so that each counter stands in one part once. An
// overflow within the batch is found here, before Redis sees any of it.
#include "fleet/redis/redis_batch.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "fleet/checks.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kMostEvents = 1000;  // of a node in one go: Lua's stack is limited

auto names(const ProfileRow& row) { return std::tie(row.node, row.exec, row.event); }

struct Sum {
  const ProfileRow* row;
  std::int64_t count;
};

Result<std::vector<Sum>> summed(const std::vector<ProfileRow>& rows) {
  std::vector<const ProfileRow*> sorted;
  sorted.reserve(rows.size());
  for (const ProfileRow& row : rows) sorted.push_back(&row);
  std::ranges::sort(sorted,
                    [](const ProfileRow* a, const ProfileRow* b) { return names(*a) < names(*b); });
  std::vector<Sum> sums;
  for (const ProfileRow* row : sorted) {
    if (sums.empty() || names(*sums.back().row) != names(*row)) {
      sums.push_back({row, row->count});
    } else if (__builtin_add_overflow(sums.back().count, row->count, &sums.back().count)) {
      return sum_too_large(*row);
    }
  }
  return sums;
}

}  // namespace

// A bound for all of the job's sums: while it is small no single sum can overflow, and the script
// need not look at each.
std::string total_of(const ProfileBatch& batch) {
  std::int64_t total = 0;
  for (const ProfileRow& row : batch.rows)
    if (__builtin_add_overflow(total, row.count, &total)) return std::to_string(INT64_MAX);
  return std::to_string(total);
}

Result<std::vector<RedisPart>> parts_of(const ProfileBatch& batch, const RedisKeys& keys,
                                        std::size_t most) {
  FATHOM_ASSIGN(const std::vector<Sum> sums, summed(batch.rows));
  std::vector<RedisPart> parts(1);
  for (auto first = sums.begin(); first != sums.end();) {
    const ProfileRow& node = *first->row;
    const auto end = std::find_if(first, sums.end(), [&](const Sum& sum) {
      return sum.row->node != node.node || sum.row->exec != node.exec;
    });
    const auto last = first + std::min<std::ptrdiff_t>(end - first, kMostEvents);
    if (parts.back().words.size() > most) parts.emplace_back();
    RedisPart& part = parts.back();
    part.keys.push_back(keys.node(node.node, node.exec));
    part.words.push_back(index_of(node.node, node.exec));
    part.words.push_back(node.exec);
    part.words.push_back(std::to_string(last - first));
    for (; first != last; ++first) {
      part.words.push_back(first->row->event);
      part.words.push_back(std::to_string(first->count));
    }
  }
  return parts;
}

}  // namespace fathom::fleet

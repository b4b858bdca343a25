// SPDX-License-Identifier: MIT
// Remembers for each row how much was sent. Stores can only add, so a sum that was sent too high
// cannot be taken back and is counted at the end.
#include "fleet/agents/profile_ledger.h"

namespace fathom::fleet {
namespace {

constexpr std::int64_t kHeldBack = 16;  // one part in so many

// As trace::name_of_place() writes it: a module's code without a function's name.
bool is_place(const ProfileRow& row) { return row.node.starts_with(row.exec + "+0x"); }

}  // namespace

void ProfileLedger::raise(const ProfileRow& row, std::int64_t to, std::vector<ProfileRow>& out) {
  std::int64_t& sent = sent_[Key(row.node, row.exec, row.event)];
  if (to <= sent) return;
  out.push_back({row.node, row.exec, row.event, to - sent});
  sent = to;
}

std::vector<ProfileRow> ProfileLedger::grown(const std::vector<ProfileRow>& rows) {
  std::vector<ProfileRow> out;
  for (const ProfileRow& row : rows) {
    if (!is_place(row)) raise(row, row.count - row.count / kHeldBack, out);
  }
  return out;
}

ProfileLedger::Rest ProfileLedger::rest(const std::vector<ProfileRow>& rows) {
  Rest rest;
  std::map<Key, std::int64_t> before = sent_;
  for (const ProfileRow& row : rows) {
    raise(row, row.count, rest.rows);
    const auto found = before.find(Key(row.node, row.exec, row.event));
    if (found == before.end()) continue;
    if (found->second > row.count) ++rest.too_much;
    before.erase(found);
  }
  for (const auto& [key, sent] : before) rest.too_much += sent > 0 ? 1 : 0;
  return rest;
}

}  // namespace fathom::fleet

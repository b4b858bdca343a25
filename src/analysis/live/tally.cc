// SPDX-License-Identifier: MIT
// Adds up summaries with a bounded number of rows; from the bound on, new names are added up as
// one. rates.cc compares two of these.
#include "analysis/live/tally.h"

#include <initializer_list>
#include <string_view>

#include "base/sum.h"

namespace fathom::analysis {
namespace {

std::size_t mix(std::initializer_list<std::uint32_t> words) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (const std::uint32_t word : words) hash = (hash ^ word) * 0x100000001b3 + (hash >> 29);
  return hash;
}

// Waits for somebody else come as reads and writes of pipes and sockets.
bool is_beyond(const trace::SummaryKey& key, std::string_view category) {
  return key.file == trace::kNoString && (category == "read" || category == "write");
}

}  // namespace

void CallSum::add(const CallSum& more) {
  add_to(calls, more.calls);
  add_to(bytes, more.bytes);
  add_to(self, more.self);
  add_to(beyond, more.beyond);
}

CallSum CallSum::minus(const CallSum& before) const {
  return {fathom::minus(calls, before.calls), fathom::minus(bytes, before.bytes),
          fathom::minus(self, before.self), fathom::minus(beyond, before.beyond)};
}

std::size_t TallyHash::operator()(const CallKey& key) const {
  return mix({static_cast<std::uint32_t>(key.pid), key.layer, key.name, key.category});
}

std::size_t TallyHash::operator()(const TimeKey& key) const {
  return mix({static_cast<std::uint32_t>(key.pid), key.cause, key.what});
}

void Tally::add(const trace::SummaryTable& sums, const trace::Strings& from,
                trace::Strings& names) {
  for (const trace::SummaryRow& row : sums.rows()) {
    if (row.empty()) continue;
    const std::string_view category = from.view(row.key.category);
    const CallKey key{row.key.pid, names.code_or_null(from.view(row.key.layer)),
                      names.code_or_null(from.view(row.key.name)), names.code_or_null(category)};
    add(key,
        {row.calls, row.bytes == trace::kNull ? 0 : row.bytes, row.self,
         is_beyond(row.key, category) ? row.self : 0},
        names);
  }
}

void Tally::add(const CallKey& key, const CallSum& sum, trace::Strings& names) {
  add_to(events_, sum.calls);
  CallKey own = key;
  if (calls_.size() >= kMostRows && !calls_.contains(own)) {
    own.name = names.code(trace::kOtherNames);
    own.category = trace::kNoString;
  }
  calls_[own].add(sum);
}

void Tally::add(const TimeKey& key, const TimeSum& sum, trace::Strings& names) {
  TimeKey own = key;
  if (time_.size() >= kMostRows && !time_.contains(own)) own.what = names.code(trace::kOtherNames);
  TimeSum& to = time_[own];
  add_to(to.total, sum.total);
  add_to(to.recent, sum.recent);
}

CallSum Tally::of(const CallKey& key) const {
  const auto found = calls_.find(key);
  return found == calls_.end() ? CallSum() : found->second;
}

TimeSum Tally::of(const TimeKey& key) const {
  const auto found = time_.find(key);
  return found == time_.end() ? TimeSum() : found->second;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: MIT
// Caches cards by path with a stamp of the recording's files. Manifests are read outside the lock:
// two threads may read the same one, and both get a right answer.
#include "serve/recordings/recording_cards.h"

#include <algorithm>

#include "analysis/compare/repetitions.h"
#include "analysis/facts.h"
#include "analysis/info.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/sum.h"
#include "base/text.h"

namespace fathom::serve {
namespace {

constexpr std::int64_t kFreshNs = 1'000'000'000;
constexpr std::size_t kMostKept = 4096;

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (!one.empty() && std::ranges::find(all, one) == all.end()) all.push_back(one);
}

// Why it is partial; of several recordings, each that has something to say.
std::string reason_of(const std::vector<trace::Part>& parts) {
  std::vector<std::string> reasons;
  for (const trace::Part& part : parts) {
    if (analysis::state_of(part) != trace::RunState::kPartial) continue;
    const std::string& told = part.manifest.state_reason;
    add_once(reasons, told);
    for (const trace::DamagedFile& file : part.damaged) {
      // The first one is told already, by its name.
      const bool is_told = told.ends_with(std::string(base_name(file.path)) + ": " + file.reason);
      if (!is_told) add_once(reasons, file.path + ": " + file.reason);
    }
  }
  return join(reasons, "; ");
}

std::optional<std::int64_t> exit_status_of(const std::vector<trace::Part>& parts) {
  const std::optional<std::int64_t> first = parts.front().manifest.exit_status;
  const bool alike = std::ranges::all_of(
      parts, [&](const trace::Part& part) { return part.manifest.exit_status == first; });
  return alike ? first : std::nullopt;
}

// Of several recordings, all together: none where one of them does not know.
std::optional<std::int64_t> overhead_of(const std::vector<trace::Part>& parts) {
  std::int64_t sum = 0;
  for (const trace::Part& part : parts) {
    if (!part.manifest.overhead_ns) return std::nullopt;
    add_to(sum, *part.manifest.overhead_ns);
  }
  return sum;
}

RecordingCard read_card(const std::string& path, const trace::NameResolver& names) {
  RecordingCard card;
  const Result<analysis::Info> info = analysis::read_info(path, names);
  if (!info) {
    card.problem = info.error().message;
    return card;
  }
  const std::vector<trace::Part>& parts = info->parts;
  card.command = parts.front().manifest.command;
  card.state = analysis::state_of(parts);
  card.state_reason = reason_of(parts);
  card.wall_ns = analysis::known_wall_ns(parts, analysis::shifts_of(parts));
  card.exit_status = exit_status_of(parts);
  card.overhead_ns = overhead_of(parts);
  card.runs = analysis::runs_in(path).size();
  card.layers = analysis::layers_of(parts);
  card.losses = analysis::losses_of(parts);
  for (const trace::Part& part : parts) add_once(card.hosts, part.manifest.host.hostname);
  for (const trace::LayerState& layer : card.layers) add_to(card.events, layer.events);
  return card;
}

}  // namespace

RecordingCard RecordingCards::card_of(const std::string& path) {
  const RecordingStamp stamp = stamp_of(path);
  const std::int64_t now = now_monotonic_ns();
  {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find(path);
    const bool is_fresh = found != kept_.end() && found->second.stamp == stamp &&
                          (!stamp.is_running || now - found->second.read_ns < kFreshNs);
    if (is_fresh) return found->second.card;
  }
  RecordingCard card = read_card(path, names_);
  const std::scoped_lock lock(mutex_);
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_[path] = {stamp, now_monotonic_ns(), card};
  return card;
}

}  // namespace fathom::serve

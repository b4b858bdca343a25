// SPDX-License-Identifier: MIT
// Names the reasons for which guests drop records, and adds up their counters from pools and from
// the run's page. Loss is data: each counter must reach the manifest.
#include <cstddef>
#include <cstring>
#include <string_view>

#include "trace/spool/losses.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

// What a row of wire/sources.h says of losses.
struct SourceWords {
  const char* layer;
  std::string_view unbound;
  std::string_view unmatched;
};
constexpr SourceWords kSources[] = {{"", "", ""},
#define ROW(number, NAME, space, layer, rank, colour, what, first, kinds, needs, flags, brings, \
            unbound, unmatched)                                                                 \
  {layer, unbound, unmatched},
                                    FATHOM_SOURCE_ROWS(ROW)
#undef ROW
};
static_assert(std::size(kSources) == FATHOM_SOURCES);

// How much of it version 3 had at first; its losses are written so where no later source has any.
constexpr std::size_t kFirstSize = offsetof(fathom_run_shared, more_losses);

std::string either(std::string_view own, std::string_view usual) {
  return std::string(own.empty() ? usual : own);
}

std::string reason_text(const SourceWords& source, std::size_t reason) {
  switch (reason) {
    case FATHOM_LOSS_NO_ROOM:
      return "no room in the spool";
    case FATHOM_LOSS_NESTED:
      return "too many signal handlers inside each other";
    case FATHOM_LOSS_TEXT_CUT:
      return kTextCut;
    case FATHOM_LOSS_UNBOUND:
      return either(source.unbound, "calls of an object could not be bound");
    case FATHOM_LOSS_TOO_DEEP:
      return "functions nested too deep";
    case FATHOM_LOSS_UNMATCHED:
      return either(source.unmatched, "functions whose end was not seen");
    case FATHOM_LOSS_NOT_TRACED:
      return "interpreters that could not be traced";
    case FATHOM_LOSS_CAPPED:
      return kCapped;
    case FATHOM_LOSS_SHARED_MEMORY:
      return "calls of children that share their parent's memory";
    case FATHOM_LOSS_CONFINED:
      return "no room left inside a sandbox";
    case FATHOM_LOSS_UNASKED:
      return kUnasked;
    case FATHOM_LOSS_FILE_LIMIT:
      return "the program's file size limit (ulimit -f) leaves no room for its events; "
             "raise it to 1 MiB or more";
    case FATHOM_LOSS_UNNAMED:
      return kUnnamedFile;
    default:
      return "reason " + std::to_string(reason);
  }
}

// A source that this version does not know has its layer from the schema that its library left, and
// the words that its reasons have for all.
Loss loss_of(std::size_t source, std::size_t reason, const Spool* spool) {
  if (source < std::size(kSources))
    return {kSources[source].layer, reason_text(kSources[source], reason), 0};
  const std::string text = reason_text({}, reason);
  std::string layer = spool != nullptr ? spool->layer_of(source) : "";
  if (!layer.empty()) return {std::move(layer), text, 0};
  return {"", "losses of source " + std::to_string(source) + ": " + text, 0};
}

}  // namespace

void PoolLosses::add(const fathom_pool_header& header) {
  for (std::size_t source = 0; source < FATHOM_FIRST_SOURCES; source++) {
    for (std::size_t reason = 0; reason < FATHOM_LOSS_REASONS_OF_POOLS; reason++) {
      counts_[source][reason] += __atomic_load_n(&header.losses[source][reason], __ATOMIC_RELAXED);
    }
  }
}

void PoolLosses::add(const fathom_run_shared& run) {
  for (unsigned source = 0; source < FATHOM_SOURCE_ROOM; source++) {
    for (unsigned reason = 0; reason < FATHOM_LOSS_REASONS; reason++)
      counts_[source][reason] += fathom_loss_count(&run, source, reason);
  }
  runs_ += run.runs;
}

void PoolLosses::add(std::span<const std::uint8_t> entry) {
  fathom_run_shared shared{};
  if (entry.size() == sizeof shared || entry.size() == kFirstSize) {
    std::memcpy(&shared, entry.data(), entry.size());
    return add(shared);
  }
  fathom_pool_header header{};
  if (entry.size() != sizeof header.losses) return;
  std::memcpy(&header.losses, entry.data(), sizeof header.losses);
  add(header);
}

// As short as older recorders read it, wherever that holds all.
std::string PoolLosses::encode() const {
  fathom_run_shared shared{};
  shared.runs = runs_;
  bool later = false;
  for (unsigned source = 0; source < FATHOM_SOURCE_ROOM; source++) {
    for (unsigned reason = 0; reason < FATHOM_LOSS_REASONS; reason++) {
      *fathom_loss_counter(&shared, source, reason) = counts_[source][reason];
      later |= source >= FATHOM_FIRST_SOURCES && counts_[source][reason] > 0;
    }
  }
  return {reinterpret_cast<const char*>(&shared), later ? sizeof shared : kFirstSize};
}

bool PoolLosses::any() const { return runs_ > 0 || !losses().empty(); }

std::uint64_t PoolLosses::dropped_events() const {
  std::uint64_t dropped = 0;
  for (const auto& of_source : counts_)
    dropped += of_source[FATHOM_LOSS_NO_ROOM] + of_source[FATHOM_LOSS_NESTED] +
               of_source[FATHOM_LOSS_FILE_LIMIT];
  return dropped;
}

std::vector<Loss> PoolLosses::losses(const Spool* spool) const {
  std::vector<Loss> losses;
  for (std::size_t source = 0; source < counts_.size(); source++) {
    for (std::size_t reason = 0; reason < FATHOM_LOSS_REASONS; reason++) {
      const std::uint64_t count = counts_[source][reason];
      if (count == 0) continue;
      losses.push_back(loss_of(source, reason, spool));
      losses.back().count = static_cast<std::int64_t>(count & INT64_MAX);
    }
  }
  return losses;
}

}  // namespace fathom::trace

// SPDX-License-Identifier: MIT
// Reads behind the drainer of a supervised run. The packer's lock is held only while living
// segments are copied.
#include "session/stream/live_rows.h"

#include <span>
#include <utility>

#include "base/files.h"
#include "session/stream/look_pace.h"

namespace fathom::session {
namespace {

constexpr std::int64_t kUntilSomebodyCameNs = 10'000'000;

}  // namespace

Result<std::unique_ptr<LiveRows>> LiveRows::open(const std::string& directory,
                                                 RowConsumer& consumer) {
  FATHOM_ASSIGN(trace::Spool spool,
                trace::Spool::open(join_path(directory, trace::kSpoolDirectory)));
  return std::unique_ptr<LiveRows>(new LiveRows(std::move(spool), consumer));
}

// Nothing where nothing is new. Draining waits meanwhile.
Result<std::optional<LiveRows::Seen>> LiveRows::see(trace::Packer& packer) {
  std::optional<Seen> seen;
  Status copied;
  packer.look([&](trace::Drainer& drainer) {
    const Seen now{drainer.live_state().bytes, drainer.log_end()};
    if (now == seen_) return;
    seen = now;
    copied = feed_.see(drainer);
  });
  if (!copied) return copied.error();
  return seen;
}

Status LiveRows::look(trace::Packer& packer) {
  pause_ns_ = feed_.live_every_ns() > 0 ? feed_.live_every_ns() : kUntilSomebodyCameNs;
  const LookPace pace;
  FATHOM_ASSIGN(const std::optional<Seen> seen, see(packer));
  if (!seen) return {};
  feed_.tick();
  FATHOM_TRY(logs_.follow(seen->logs, [this](std::span<const trace::Chunk> chunks) {
    return feed_.take_drained(chunks);
  }));
  FATHOM_TRY(feed_.take_living({}));
  FATHOM_TRY(consumer_->refresh());
  seen_ = *seen;
  read_logs_ = logs_.position().log;
  pause_ns_ = pace.rest_ns(pause_ns_);
  return {};
}

}  // namespace fathom::session

// SPDX-License-Identifier: MIT
// The rows of a run that is supervised, handed on while its programs run: what row_stream.h does
// for runs that nobody supervises, beside a packer, which has the recording to itself as ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "session/stream/row_feed.h"
#include "trace/recording/packer.h"
#include "trace/spool/log_follower.h"
#include "trace/spool/spool.h"

namespace fathom::session {

// For one thread, but read_logs() and end(), which may be called from any.
class LiveRows {
 public:
  // `directory` is the recording's; the consumer outlives this. Rows of all processes are handed
  // on.
  static Result<std::unique_ptr<LiveRows>> open(const std::string& directory,
                                                RowConsumer& consumer);

  // Hands on what came since the last time, also of processes that have ended since. An Error is
  // the consumer's, or the spool could not be read: the recording goes on, but call end() then, so
  // that packing no longer waits for us.
  Status look(trace::Packer& packer);
  // When the next look is due.
  [[nodiscard]] std::int64_t pause_ns() const { return pause_ns_; }

  // The consumer has all rows of the logs below this one. They may be packed: a log that was is
  // gone.
  [[nodiscard]] std::uint64_t read_logs() const { return read_logs_; }
  // Nobody wants rows any more.
  void end() { read_logs_ = UINT64_MAX; }

 private:
  LiveRows(trace::Spool spool, RowConsumer& consumer)
      : spool_(std::move(spool)),
        consumer_(&consumer),
        feed_(spool_, consumer, RowFeed::Whose::kAll),
        logs_(spool_, 0) {}
  struct Seen {
    std::uint64_t live_bytes = 0;
    trace::LogEnd logs;
    bool operator==(const Seen&) const = default;
  };
  Result<std::optional<Seen>> see(trace::Packer& packer);

  trace::Spool spool_;
  RowConsumer* consumer_;
  RowFeed feed_;
  trace::LogFollower logs_;
  Seen seen_;
  std::int64_t pause_ns_ = 0;
  std::atomic<std::uint64_t> read_logs_ = 0;
};

}  // namespace fathom::session

// SPDX-License-Identifier: MIT
// The threads that keep a recording flowing while another looks after the program: one takes full
// segments out of the spool and samples out of the sources, one packs both into Parquet. Two,
// because a segment that waits for Parquet makes the program grow its pools. Where somebody takes
// rows while the program runs, a third one hands them on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "session/stream/live_rows.h"
#include "sources/source.h"
#include "trace/recording/packer.h"

namespace fathom::session {

// What can be told while a run goes on.
struct Flow {
  std::uint64_t events = 0;  // packed ones exactly, the others by their bytes
  std::uint64_t bytes = 0;   // Parquet and spool together
  std::uint64_t processes =
      0;                   // alive, as the sources that watch them saw it last; 0: nobody watches
  std::uint64_t lost = 0;  // events that the program had no room for
  bool writers_alive = false;
  std::uint64_t passes = 0;  // of the spool, complete ones
};

// start, stop and packer() are for the owner's thread; flow() for any.
class Pump {
 public:
  // `directory` is the recording's.
  Pump(trace::Packer packer, std::string directory)
      : packer_(std::move(packer)), directory_(std::move(directory)) {}

  // Told of all rows of the sources, from the pump's thread. Before start().
  using RowsSeen = std::function<void(const trace::HostRows&, const trace::Strings&)>;
  void show_rows_to(RowsSeen seen) { seen_ = std::move(seen); }

  // Who takes the programs' rows until stop(), from a thread of the pump's. Before start(); the
  // consumer outlives the pump's threads.
  Status hand_rows_to(RowConsumer& consumer);

  // The sources are running; they are drained from the pump's thread until stop().
  void start(std::vector<sources::Source*> sources);
  // Ends the threads after a last look at the sources; waits for one Parquet file at most. The
  // consumer has all rows then, and gets no more. Idempotent.
  void stop();

  [[nodiscard]] Flow flow() const;
  // What went wrong first; the program goes on regardless, and what is not packed stays in the
  // spool.
  [[nodiscard]] std::optional<Error> trouble() const;
  // Why the consumer has not got all rows; the recording has them.
  [[nodiscard]] std::optional<Error> rows_trouble() const { return rows_trouble_; }

  // Only while the thread does not run.
  [[nodiscard]] trace::Packer& packer() { return packer_; }

 private:
  void work(const std::stop_token& stop);
  bool pass();
  void each_second();
  void drain_sources();
  void pack_when_due(const std::stop_token& stop);
  void pack(const std::stop_token& stop);
  void hand_on_rows(const std::stop_token& stop);
  bool look_for_rows();
  void note(const Error& error);

  trace::Packer packer_;
  std::string directory_;
  std::vector<sources::Source*> sources_;
  RowsSeen seen_;
  mutable std::mutex mutex_;
  Flow flow_;                        // guarded by mutex_
  std::optional<Error> trouble_;     // guarded by mutex_
  std::uint64_t drained_bytes_ = 0;  // guarded by mutex_: since something was packed
  bool due_ = false;                 // guarded by mutex_: there may be a log to pack
  std::condition_variable_any packing_is_due_;
  std::int64_t next_second_ns_ = 0;  // the draining thread's
  bool packing_ = true;              // the packing thread's
  std::unique_ptr<LiveRows> rows_;   // the thread's that hands them on; nullptr: nobody takes them
  std::optional<Error> rows_trouble_;
  std::jthread draining_thread_;
  std::jthread packing_thread_;
  std::jthread rows_thread_;
};

}  // namespace fathom::session

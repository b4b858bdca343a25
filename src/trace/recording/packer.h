// SPDX-License-Identifier: MIT
// Logs into Parquet. Needs spool/lock (exclusive), which it takes and holds. The same code packs
// while a program runs, and afterwards what a killed recorder or an unsupervised run left.
//
// Threads: drain(), append(), look() and progress() may run beside pack_complete(), so that
// segments are emptied while Parquet is written; everything else is for one thread, when no other
// is here.
//
//   Packer::open → { drain(); pack_complete(); } while it runs → [sum_up()] → finish()
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/decode/decoder.h"
#include "trace/decode/host_rows.h"
#include "trace/recording/manifest.h"
#include "trace/recording/processes.h"
#include "trace/rows/batch.h"
#include "trace/rows/sampled_time.h"
#include "trace/spool/drainer.h"

namespace fathom::trace {

// How a spool is packed, and what is known of its run.
struct PackerOptions {
  NameResolver resolver;
  std::string library;  // libfathom.so, for the reasons of not_covered; may be empty
  bool ended = false;   // programs of another machine have ended: somebody says so
  bool local = true;    // see DecoderOptions; and whether paths of files may be looked at
  int zstd_level = 1;   // 3 takes longer and saves nothing: dictionaries and deltas have done it
};

// May be asked for beside packing.
struct PackProgress {
  std::uint64_t events = 0;  // packed so far
  std::uint64_t parquet_bytes = 0;
};

// Asked before each log that is to be packed, by its number; false leaves it and the rest in the
// spool.
using GoOn = std::function<bool(std::uint64_t log)>;

// All that was recorded, packed or not. Codes are those of the packer's strings().
struct Totals {
  Manifest manifest;  // with layers' events and losses of all
  SummaryTable summary;
  Timeline timeline;
  LayerCoverage coverage;
  CounterBatch counters;  // of what is not packed; none where some are packed
  ThreadTime time;        // of what this recorder sampled
  std::vector<ProcessRow> processes;
  std::vector<ThreadRow> threads;
  std::uint64_t waiting = 0;      // events that are not packed yet
  std::int64_t events = 0;        // rows, without calls that were only added up
  bool program_attached = false;  // the program that was run told of itself
};

// What finish() left, and why.
struct FinishResult {
  bool owners_alive = false;    // processes still write: their segments, and the spool, were left
  bool owners_unknown = false;  // as before, but they cannot be seen from here and may have ended
  bool interrupted = false;     // not everything was to be packed: the rest is in the spool
  RunState state = RunState::kComplete;
};

// Owns the spool's lock for its whole life, the drainer and what it knows of the run. A failure
// leaves the spool as it is: nothing is removed before what replaces it is complete, and another
// packer can go on.
class Packer {
 public:
  // `directory` is the recording's; its spool exists. The manifest is what the recording's file
  // says, or will say: the packer writes it whenever it publishes. kDenied when somebody else holds
  // the lock.
  static Result<Packer> open(const std::string& directory, Manifest manifest,
                             PackerOptions options);
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;
  ~Packer();

  [[nodiscard]] Manifest& manifest();
  [[nodiscard]] const Clock& clock() const;

  Result<DrainResult> drain();
  // What sources beside the programs made.
  Status append(const HostRows& rows, const Strings& strings);
  // For somebody who reads what is recorded while it is. Draining waits for the call to return.
  void look(const std::function<void(Drainer&)>& look);
  // Packs the logs that are complete.
  Status pack_complete(const GoOn& go_on = {});
  [[nodiscard]] PackProgress progress() const;

  [[nodiscard]] const Strings& strings() const;

  // Takes all that may be taken, and adds the sums of what is not packed to those of what this
  // packer has packed: a decoding pass, which needs no DuckDB. The manifest says from now on how
  // the run ended; the caller writes it.
  Result<Totals> sum_up();

  // Takes all that may be taken, packs it, writes summary, timeline, processes, threads and the
  // manifest, and removes the spool if nobody writes there any more. `partial_reason`: why the
  // recording is partial whatever is found; may be empty.
  Result<FinishResult> finish(const std::string& partial_reason = "", const GoOn& go_on = {});
  // What makes a recording that was left behind partial, whatever is found in it; "": nothing.
  [[nodiscard]] std::string why_partial() const;

 private:
  class State;
  explicit Packer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace

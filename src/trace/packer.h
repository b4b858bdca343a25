// SPDX-License-Identifier: MIT
// Logs into Parquet. Needs spool/lock (exclusive), which it takes and holds. The same code packs
// while a program runs, and afterwards what a killed recorder or an unsupervised run left.
//
// Threads: drain(), append() and progress() may run beside pack_complete(), so that segments are
// emptied while Parquet is written; everything else is for one thread, when no other is here.
//
//   Packer::open → { drain(); pack_complete(); } while it runs → finish()
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/batch.h"
#include "trace/decoder.h"
#include "trace/drainer.h"
#include "trace/manifest.h"
#include "trace/processes.h"

namespace fathom::trace {

struct PackerOptions {
  NameResolver resolver;
  std::string library;  // libfathom.so, for the reasons of not_covered; may be empty
  int zstd_level = 3;
};

struct PackProgress {
  std::uint64_t events = 0;  // packed so far
  std::uint64_t parquet_bytes = 0;
};

struct FinishResult {
  bool owners_alive = false;  // processes still write: their segments, and the spool, were left
  RunState state = RunState::kComplete;
};

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
  Status append(const CounterBatch& counters, const Strings& strings);
  // Packs the logs that are complete. Loads DuckDB.
  Status pack_complete();
  [[nodiscard]] PackProgress progress() const;

  void process_exited(std::int64_t pid, std::int64_t exit);

  // Sums of what this packer has packed. The codes are those of strings().
  [[nodiscard]] const SummaryTable& summary() const;
  [[nodiscard]] const Strings& strings() const;

  // Takes all that may be taken, packs it, writes summary, timeline, processes, threads and the
  // manifest, and removes the spool if nobody writes there any more. `partial_reason`: why the
  // recording is partial whatever is found; may be empty.
  Result<FinishResult> finish(const std::string& partial_reason = "");

 private:
  class State;
  explicit Packer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace

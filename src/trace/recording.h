// SPDX-License-Identifier: MIT
// A recording opened for reading: Parquet files per table, plus the tail, which is what no Parquet
// file holds yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/batch.h"
#include "trace/coverage.h"
#include "trace/manifest.h"
#include "trace/summary.h"

namespace fathom::trace {

// What a reader is going to ask about what is not packed yet. Sums are decoded many times faster
// than events, and in little memory.
enum class Need : std::uint8_t {
  kSums,    // summary, timeline, counters, processes and threads
  kEvents,  // everything
};

// Rows in memory. Processes and threads are complete here while the spool exists, not only those of
// the tail.
struct Tail {
  Strings strings;
  EventBatch events;  // none where only sums are needed
  CounterBatch counters;
  IntervalBatch intervals;
  std::vector<ProcessRow> processes;
  std::vector<ThreadRow> threads;
  SummaryTable summary;
  Timeline timeline;
  LayerCoverage coverage;
  std::vector<InFlight> in_flight;
};

struct DamagedFile {
  std::string path;
  std::string reason;
};

// One recording directory. Its manifest tells the truth of now: events of layers, losses and state
// include the tail.
struct Part {
  std::string directory;
  Manifest manifest;
  bool recorder_lives = false;  // somebody holds spool/lock
  std::map<std::string, std::vector<std::string>>
      files;                         // table to Parquet files; see parquet_tables.h
  std::vector<DamagedFile> damaged;  // the recording is partial then
  std::unique_ptr<Tail> tail;        // nullptr: everything is in the files
};

struct Recording {
  std::vector<Part> parts;  // at least one; several when a directory above recordings was opened

  // Nothing is written. Errors are one line: what is missing, empty, no recording or damaged.
  static Result<Recording> open(const std::string& directory, const DecoderOptions& options = {},
                                Need need = Need::kEvents);
};

struct RecoverOptions {
  NameResolver resolver;
  std::string library;
};

// Packs what a killed recorder or an unsupervised run left in this directory and those below. Does
// nothing where somebody records, where nothing is left, or where we may not write. Living
// processes keep their segments.
Status recover(const std::string& directory, const RecoverOptions& options = {});

// A manifest for a run that nobody supervised, from its spool.
class Spool;
Manifest unsupervised_manifest(const Spool& spool);

// The recordings in or below a directory, sorted; empty if there is none.
std::vector<std::string> find_recordings(const std::string& directory);

}  // namespace fathom::trace

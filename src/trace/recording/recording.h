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
#include "trace/recording/manifest.h"
#include "trace/recording/parquet_file.h"
#include "trace/rows/batch.h"
#include "trace/rows/coverage.h"
#include "trace/rows/samples.h"
#include "trace/rows/summary.h"
#include "trace/spool/damaged_file.h"

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
  SampleBatch samples;  // none where only sums are needed; their frames neither
  FrameBatch frames;
  std::vector<ProcessRow> processes;
  std::vector<ThreadRow> threads;
  SummaryTable summary;
  Timeline timeline;
  LayerCoverage coverage;
  std::vector<InFlight> in_flight;
};

// One recording directory. Its manifest tells the truth of now: events of layers, losses and state
// include the tail.
struct Part {
  std::string directory;
  Manifest manifest;
  bool recorder_lives = false;                         // somebody holds spool/lock
  std::map<std::string, std::vector<DataFile>> files;  // by table; see parquet_tables.h
  std::vector<DamagedFile> damaged;                    // the recording is partial then
  std::unique_ptr<Tail> tail;                          // nullptr: everything is in the files
};

// What was opened: it owns descriptors of all files, so what a packer replaces meanwhile stays
// readable.
struct Recording {
  std::vector<Part> parts;  // at least one; several when a directory above recordings was opened

  // Nothing is written or locked for long, and nothing outside the directory is looked at, but for
  // modules and programs that a recording of our own names (trust.h). Errors are one line: what is
  // missing, empty, no recording or damaged.
  static Result<Recording> open(const std::string& directory, const DecoderOptions& options = {},
                                Need need = Need::kEvents);
};

// What the packer of somebody else's run is to know.
struct RecoverOptions {
  NameResolver resolver;
  std::string library;
  bool ended = false;  // see PackerOptions
};

// Opens what a killed recorder or an unsupervised run left, to be packed. kDenied for a recording
// of another user, and where somebody records.
class Packer;
Result<Packer> open_own(const std::string& directory, const RecoverOptions& options = {});
// What makes it partial whatever is found in it; "": nothing. A recorder that saw the end of its
// run may have left the packing of it to us.
class Spool;
std::string why_partial(const Manifest& manifest, const Spool& spool);
// Files of a spool that only wait for its run.header: pools and logs. 0 where that is there.
std::size_t files_without_header(const Directory& spool);
// Makes a run.header that somebody removed or damaged again, from the manifest, and counts that as
// a loss: what the programs counted there is gone. kCorrupt where the manifest is not there either.
Status remake_run_header(const std::string& directory);

// Packs what a killed recorder or an unsupervised run left in this directory and those below.
// Living processes keep their segments.
Status recover(const std::string& directory, const RecoverOptions& options = {});

// A manifest for a run that nobody supervised, from its spool.
Manifest unsupervised_manifest(const Spool& spool);

// The recordings in or below a directory, sorted; empty if there is none. Links are not followed,
// but for those in `directory` itself.
std::vector<std::string> find_recordings(const std::string& directory);

}  // namespace fathom::trace

// SPDX-License-Identifier: MIT
// One recording of a daemon, or of processes that ran already: it has no program, and another one
// may go on where it ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/stream/pump.h"
#include "trace/recording/manifest.h"

namespace fathom::session {

// What a recording of the daemon begins with.
struct WatchRecordingSpec {
  std::string directory;                 // exists, empty
  std::string origin = "watch";          // as in the manifest
  std::vector<std::string> command;      // the daemon's, or the program's
  std::vector<std::string> environment;  // as NAME=VALUE, what of it may be told
  std::int64_t start_monotonic_ns = 0;   // 0: now
  std::vector<trace::LayerState> layers;
  std::map<std::string, std::string> facts;
  std::string library;  // that programs have in them; "": none of ours
  // Names of functions; none: by the files of this machine.
  std::optional<trace::NameResolver> resolver = {};
};

// For the daemon's thread; finish() may run in another one when nobody else uses the object.
class WatchRecording {
 public:
  // On failure the caller removes the directory.
  static Result<std::unique_ptr<WatchRecording>> begin(const WatchRecordingSpec& spec);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }  // by the monotonic clock
  [[nodiscard]] Pump& pump() { return pump_; }
  // Rows for it alone. The pump may run meanwhile (Packer::append).
  Status append(const trace::HostRows& rows, const trace::Strings& strings);
  // The pump does not run any more; nothing comes after `end`.
  Result<trace::Totals> sum_up(std::int64_t end_monotonic_ns);
  // Sums up, and packs all of it. After a failure, what is not packed is in the spool, for `fathom
  // collect`.
  Status finish(std::int64_t end_monotonic_ns);

 private:
  WatchRecording(const std::string& directory, std::int64_t start_ns, trace::Packer packer)
      : directory_(directory), start_ns_(start_ns), pump_(std::move(packer), directory) {}

  std::string directory_;
  std::int64_t start_ns_;
  Pump pump_;
};

}  // namespace fathom::session

// SPDX-License-Identifier: MIT
// manifest.json: what a recording says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/host.h"
#include "base/result.h"
#include "trace/decode/decoder.h"
#include "trace/rows/clock.h"

namespace fathom::trace {

inline constexpr int kSchemaVersion = 3;
inline constexpr char kManifestFile[] = "manifest.json";

enum class RunState : std::uint8_t { kRunning, kComplete, kPartial };
std::string_view to_text(RunState state);  // "running", "complete", "partial"

// A layer in the manifest: whether it was recorded, or why not.
struct LayerState {
  std::string layer;
  std::string state;   // on, off, partial, unavailable
  std::string reason;  // wherever nothing was recorded
  std::int64_t events = 0;
};

// A program that ran and was not recorded.
struct NotCovered {
  std::int64_t pid = 0;
  std::string program;
  std::string reason;
  std::string what;  // of the process; "": all of it
};

// A call that had begun and not ended.
struct InFlight {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
  std::int64_t since_ns = 0;  // ts
};

// manifest.json as values.
struct Manifest {
  // Of the oldest file: one that an earlier version began keeps its number.
  int schema = kSchemaVersion;
  std::string run_id;  // 32 hex digits
  std::vector<std::string> command;
  std::string cwd;
  std::map<std::string, std::string> environment;  // an allow-list's
  HostFacts host;
  std::string origin;  // "run", "attach", "watch", "unsupervised", "import"
  std::int64_t start_realtime_ns = 0;
  std::optional<std::int64_t> duration_ns;  // wall time, once it is over
  Clock clock;
  RunState state = RunState::kRunning;
  std::string state_reason;  // why partial; may be empty
  std::vector<LayerState> layers;
  std::vector<Loss> losses;
  std::vector<NotCovered> not_covered;
  std::vector<InFlight> in_flight;
  std::vector<std::string> path_filter;  // prefixes; empty: all
  std::optional<double> overhead_ns_per_event;
  std::optional<std::int64_t> overhead_ns;  // estimate for the whole run
  std::optional<std::int64_t> pid;          // of the program that the recorder started
  std::optional<std::int64_t> exit_status;
  std::map<std::string, std::string> facts;  // further facts for view `run`
  // How many Parquet files of each table there are, at least: one that was removed is missed.
  std::map<std::string, std::int64_t> files;

  LayerState& layer(std::string_view name);         // adds it, state "on", if it is missing
  void add_loss(const Loss& loss);                  // sums up by (layer, reason)
  void add_not_covered(const NotCovered& program);  // once by (pid, program)
};

// kCorrupt where the text is not a manifest, kUnsupported where it is of a later schema. Unknown
// keys are ignored.
Result<Manifest> parse_manifest(std::string_view text);
std::string format_manifest(const Manifest& manifest);

// In the recording's directory. Reading: kNotFound when there is none. Writing is atomic.
Result<Manifest> read_manifest(const Directory& directory);
Result<Manifest> read_manifest(const std::string& directory);
Status write_manifest(const Directory& directory, const Manifest& manifest);
Status write_manifest(const std::string& directory, const Manifest& manifest);

}  // namespace fathom::trace

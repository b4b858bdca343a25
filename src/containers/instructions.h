// SPDX-License-Identifier: MIT
// What is to be run and measured: the instruction file of `fathom container run`, a mapping in YAML
// (docs/schema/container.json, docs/containers.md). Structured from end to end: nothing that a file
// says becomes a flag of the engine that was not meant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::containers {

enum class RunKind : std::uint8_t { kProbed, kPlain };

// A directory or a file of this machine that the application sees.
struct Mount {
  std::string source;  // absolute, without links
  std::string target;
  bool write = false;
};

struct Limits {
  double cpus = 0;           // cores; 0: all
  std::uint64_t memory = 0;  // bytes; 0: all
  std::int64_t pids = 4096;  // processes and threads
  std::int64_t time_ns = 0;  // 0: `duration` alone
};

inline constexpr std::int64_t kAllGpus = -1;

// When a run counts as a success.
struct SuccessCheck {
  std::vector<int> exits = {};  // statuses; none: 0, or stopped because its time was over
  std::string output = {};      // what stdout must have in it (text_finder.h); "": anything

  [[nodiscard]] bool is_asked_for() const { return !exits.empty() || !output.empty(); }
};

struct Instructions {
  std::string image = {};  // or a command of this machine, without an engine
  std::vector<std::string> command = {};
  std::vector<std::string> arguments = {};   // none: the image's own
  std::vector<std::string> entrypoint = {};  // none: the image's own
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string workdir = {}, user = {};  // "": as the image says
  bool read_only = false;
  bool tty = false;
  std::vector<Mount> mounts = {};
  Mount data = {};                        // read-only; no source: none
  std::vector<std::string> outputs = {};  // copied out after a run; of a command below workdir
  std::string results = {};  // a path inside that comes out below the folder of results
  Limits limits = {};
  std::string network = "none";
  std::int64_t gpus = 0;     // how many, or kAllGpus
  std::string runtime = {};  // the engine's OCI runtime; "": its own choice
  std::string name = {};
  std::string layers = {};  // of probed runs, as --layers; "": kUsualLayers
  std::vector<RunKind> runs = {RunKind::kProbed, RunKind::kPlain};
  std::int64_t warmup = 0;       // runs of each kind that do not count
  std::int64_t repetitions = 1;  // of each kind
  std::int64_t duration_ns = 60'000'000'000;
  std::int64_t grace_ns = 10'000'000'000;  // from one signal to the next
  SuccessCheck success = {};
  std::vector<std::string> count = {};  // events of perf that probed runs count over time
  std::string metrics = {};             // [ADDRESS:]PORT that live values are served at; "": none
  std::string text = {};                // of the file itself; "": there is none
};

inline constexpr char kUsualLayers[] = "+python";

// Where applications that were made for Waggle's profiler leave files. It is copied out after each
// run if the image has it, unless the file says something else about it.
inline constexpr char kUsualResults[] = "/app/profile_output";
[[nodiscard]] bool has_usual_results(const Instructions& wanted);

// Whose file it is: what its words may lead to on this machine.
struct InstructionOrigin {
  std::string folder;         // that relative sources of mounts begin at
  std::string engine_socket;  // no mount may reach it; "": not known
};

// A file, a pipe or a device: no more of it than instructions may have.
Result<std::string> read_instruction_file(const std::string& path);

// `where` is the file's name. kInvalid names line and column: "FILE:LINE:COLUMN: what is wrong".
Result<Instructions> parse_instructions(std::string_view text, const std::string& where,
                                        const InstructionOrigin& origin);

// Whether the engine takes it for the name of an image, and not for anything else.
[[nodiscard]] bool is_image_name(std::string_view name);

// [ADDRESS:]PORT
[[nodiscard]] bool is_metrics_place(std::string_view text);

// A key as the published schema has it, for the test that holds one against the other.
struct KeyName {
  std::string_view of;  // the mapping that it stands in; "": the file itself
  std::string_view key;
};
std::span<const KeyName> instruction_keys();

}  // namespace fathom::containers

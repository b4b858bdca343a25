// SPDX-License-Identifier: MIT
// A suite as its file in YAML says it: programs, the parameters that each is run with, how often,
// and who runs them. docs/suite.md has the format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fleet/executors/docker.h"
#include "fleet/executors/jenkins.h"
#include "fleet/executors/slurm.h"

namespace fathom::fleet {

enum class SuiteMeasure : std::uint8_t { kNothing, kBench, kProfile };
enum class SuiteExecutor : std::uint8_t { kLocal, kDocker, kSlurm, kJenkins };

using Parameters = std::vector<std::pair<std::string, std::string>>;
using Matrix = std::vector<std::pair<std::string, std::vector<std::string>>>;

// One benchmark: a command, and all parameters that it is run with.
struct SuiteEntry {
  std::string name;
  std::vector<std::string> command;  // one word: for a shell; of an image, it and its arguments
  bool by_shell = false;
  std::string image;                   // profiled by `fathom container run`; "": a command
  std::vector<std::string> arguments;  // of the image
  std::string job;                     // that gets what is measured; "": none
  SuiteMeasure measure = SuiteMeasure::kNothing;
  std::int64_t repetitions = 1;
  Matrix matrix;
  std::vector<std::string> after;  // names of entries that must have ended
  std::map<std::string, std::string> environment;
  std::string directory;
  std::int64_t timeout_ns = 0;
};

struct SuiteSpec {
  SuiteExecutor executor = SuiteExecutor::kLocal;
  std::int64_t at_once = 1;  // works, of this machine or of an array; 0 with Slurm: all
  std::string fathom;        // the program as those who work see it; "": this one
  std::vector<SuiteEntry> entries;
  DockerOptions docker;
  SlurmOptions slurm;
  JenkinsOptions jenkins;
};

// kInvalid: "FILE:LINE:COLUMN: …".
Result<SuiteSpec> parse_suite(std::string_view text, const std::string& where);

// The folder that `fathom container run` leaves its results in, of an entry with an image.
inline constexpr char kProfileFolder[] = "profile";

// One work: an entry with one value for each parameter.
struct SuiteItem {
  std::size_t entry = 0;
  Parameters parameters;
  std::int64_t repetition = 0;       // from 0
  std::vector<std::string> command;  // with the parameters in place
};
inline constexpr std::size_t kMostItems = 100'000;
// In order of entries, parameters as in the file, repetitions last. kInvalid: more than kMostItems.
Result<std::vector<SuiteItem>> items_of(const SuiteSpec& spec);

}  // namespace fathom::fleet

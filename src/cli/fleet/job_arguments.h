// SPDX-License-Identifier: MIT
// The command line of `fathom job`, and the functions behind its actions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output.h"
#include "fleet/store.h"
#include "fleet/stores/find_store.h"

namespace fathom::cli {

// What was given, before anybody looked whether it suits the action: JobAction::options says which
// of these mean something to it.
struct JobArguments {
  std::string action, job, other;  // the words
  std::string info, file, schema, kind, redis, to;
  bool profile = false, benchmarks = false, trend = false, yes = false, from_stdin = false;
  std::int64_t top = -1;
  fleet::PlaceOptions store;
  OutputOptions format;
  Output output;  // of `format`

  // What `show`, `clear` and `compare` are about: --kind, else benchmarks.
  [[nodiscard]] std::string record_kind() const;
};

// One action.
struct JobAction {
  std::string_view name;
  std::string_view usage;  // what follows the name
  std::string_view help;
  int words;                                  // behind the name, at least
  int most_words;                             // and at most
  std::span<const std::string_view> options;  // that mean something to it
  Result<int> (*run)(fleet::JobStore& store, const JobArguments& arguments);
};

// job_actions.cc
Result<int> create_job(fleet::JobStore& store, const JobArguments& arguments);
Result<int> list_jobs(fleet::JobStore& store, const JobArguments& arguments);
Result<int> tell_job(fleet::JobStore& store, const JobArguments& arguments);
Result<int> clear_job(fleet::JobStore& store, const JobArguments& arguments);
Result<int> remove_job(fleet::JobStore& store, const JobArguments& arguments);
// job_show.cc
Result<int> show_job(fleet::JobStore& store, const JobArguments& arguments);
Result<int> compare_jobs(fleet::JobStore& store, const JobArguments& arguments);
// job_recordings.cc
Result<int> list_recordings(fleet::JobStore& store, const JobArguments& arguments);
Result<int> add_recording_of_user(fleet::JobStore& store, const JobArguments& arguments);
Result<int> remove_recording(fleet::JobStore& store, const JobArguments& arguments);
// job_kinds.cc
Result<int> manage_kinds(fleet::JobStore& store, const JobArguments& arguments);
Result<int> add_to_job(fleet::JobStore& store, const JobArguments& arguments);
// job_import.cc
Result<int> import_jobs(fleet::JobStore& store, const JobArguments& arguments);
Result<int> move_jobs(fleet::JobStore& store, const JobArguments& arguments);

// The job, or an Error whose hint lists the jobs that there are.
Result<fleet::Job> existing_job(fleet::JobStore& store, const std::string& name);
// Asks on a terminal whether to remove something; no where nobody can be asked.
bool asks_yes(const std::string& question);

}  // namespace fathom::cli

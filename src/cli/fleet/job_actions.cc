// SPDX-License-Identifier: MIT
// The short actions of `fathom job`: a call of the store, and words for its outcome. The long ones
// have files of their own (job_arguments.h lists them).
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "base/plural.h"
#include "base/text.h"
#include "cli/fleet/job_arguments.h"
#include "cli/tell.h"
#include "render/json_writer.h"

namespace fathom::cli {
namespace {

Table table_of(const std::vector<fleet::Job>& jobs) {
  Table table;
  table.columns = {{.name = "name"}, {.name = "info"}, {"benchmarks", Measure::kCount}};
  for (const fleet::Job& job : jobs) table.rows.push_back({job.name, job.info, job.benchmarks});
  if (jobs.empty()) table.note = "there are no jobs; 'fathom job create NAME' makes one";
  return table;
}

}  // namespace

// The whole word: y alone is typed too easily for what cannot be undone.
bool asks_yes(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) return false;
  print_beside(question + " [yes/no] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes" || answer == "Yes";
}

std::string JobArguments::record_kind() const {
  return kind.empty() ? std::string(fleet::kBenchmarks) : kind;
}

Result<fleet::Job> existing_job(fleet::JobStore& store, const std::string& name) {
  Result<fleet::Job> job = store.job(name);
  if (!job && job.error().code == Code::kNotFound)
    return Error{Code::kNotFound, "there is no job '" + escape_control(name) + "'",
                 "'fathom job list' shows those that there are"};
  return job;
}

Result<int> create_job(fleet::JobStore& store, const JobArguments& arguments) {
  if (!fleet::is_job_name(arguments.job))
    return Error{Code::kInvalid, "'" + escape_control(arguments.job) + "' cannot be a job's name",
                 "use up to 64 letters, digits and . _ - with a letter or digit first"};
  const Status made =
      store.create({.name = arguments.job, .info = arguments.info, .benchmarks = 0});
  if (!made && made.error().code == Code::kExists)
    return Error{Code::kExists, "there is a job '" + arguments.job + "' already",
                 "'fathom job info " + arguments.job + "' shows it; use another name"};
  if (!made) return made.error();
  return 0;
}

Result<int> list_jobs(fleet::JobStore& store, const JobArguments& arguments) {
  FATHOM_ASSIGN(const std::vector<fleet::Job> jobs, store.jobs());
  FATHOM_TRY(
      print(render::render(table_of(jobs), arguments.output.format, arguments.output.style)));
  return 0;
}

Result<int> tell_job(fleet::JobStore& store, const JobArguments& arguments) {
  FATHOM_ASSIGN(const fleet::Job job, existing_job(store, arguments.job));
  if (arguments.output.format == render::Format::kJson) {
    std::string text;
    render::JsonWriter json(text);
    json.begin_object().key("name").value(job.name).key("info").value(job.info);
    json.key("benchmarks").value(job.benchmarks).end_object();
    FATHOM_TRY(print(text + "\n"));
    return 0;
  }
  FATHOM_TRY(
      print(render::render(table_of({job}), arguments.output.format, arguments.output.style)));
  return 0;
}

// Benchmarks, unless only the profile was named.
Result<int> clear_job(fleet::JobStore& store, const JobArguments& arguments) {
  FATHOM_ASSIGN(const fleet::Job job, existing_job(store, arguments.job));
  if (arguments.profile) FATHOM_TRY(store.clear_profile(job.name));
  if (!arguments.profile || arguments.benchmarks || !arguments.kind.empty())
    FATHOM_TRY(store.clear_records(job.name, arguments.record_kind()));
  return 0;
}

Result<int> remove_job(fleet::JobStore& store, const JobArguments& arguments) {
  FATHOM_ASSIGN(const fleet::Job job, existing_job(store, arguments.job));
  if (!arguments.yes && !asks_yes("Remove job " + job.name + " with its profile and " +
                                  counted(job.benchmarks, "benchmark") + "?"))
    return usage_error("job '" + job.name + "' was not removed",
                       "to remove it and all its data: fathom job remove " + job.name + " --yes");
  FATHOM_TRY(store.remove(job.name));
  return 0;
}

}  // namespace fathom::cli

// SPDX-License-Identifier: MIT
// Maps each --cmd word to the calls of a store and prints what scripts of profiling-framework
// expect, byte by byte. The programs' options are read in old_words.cc.
#include "cli/fleet/old_controller.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/fleet/job_arguments.h"
#include "cli/fleet/job_files.h"
#include "cli/fleet/old_words.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

constexpr std::string_view kOptions[] = {"--bind", "--port", "--jobid",
                                         "--cmd",  "--info", "--file"};

struct Given {
  fleet::JobStore& store;
  std::string job;
  const OldWords& words;
};

// What its scripts cut at tabs.
std::string line_of(const fleet::Job& job) {
  return "JOBID: " + escape_control(job.name) + "\t Info: " + escape_control(job.info) +
         "\t Number of benchmark data: " + std::to_string(job.benchmarks) + "\n";
}

Result<int> create(const Given& given) {
  FATHOM_ASSIGN(const std::string number, old_job_number(given.job));
  const Status made =
      given.store.create({.name = number, .info = given.words.value("--info"), .benchmarks = 0});
  if (!made && made.error().code == Code::kExists)
    return Error{Code::kExists, "job " + number + " already exists",
                 "take another number from 2001 to 9999"};
  FATHOM_TRY(made);
  return 0;
}

// Numbers in their order, names behind them.
Result<int> list(const Given& given) {
  FATHOM_ASSIGN(std::vector<fleet::Job> jobs, given.store.jobs());
  const auto number = [](const fleet::Job& job) {
    const Result<std::int64_t> read = parse_int(job.name);
    return read ? *read : std::numeric_limits<std::int64_t>::max();
  };
  std::ranges::stable_sort(jobs, {}, number);
  std::string text;
  for (const fleet::Job& job : jobs) text += line_of(job);
  FATHOM_TRY(print(text));
  return 0;
}

Result<int> show_info(const Given& given) {
  FATHOM_ASSIGN(const fleet::Job job, existing_job(given.store, given.job));
  FATHOM_TRY(print(line_of(job)));
  return 0;
}

Result<int> show_benchmark(const Given& given) {
  FATHOM_TRY(existing_job(given.store, given.job));
  FATHOM_TRY(write_records(given.store, given.job, std::string(fleet::kBenchmarks),
                           given.words.value("--file"), false));
  return 0;
}

Result<int> show_profiling(const Given& given) {
  FATHOM_TRY(existing_job(given.store, given.job));
  FATHOM_TRY(write_profile(given.store, given.job, given.words.value("--file"), false));
  return 0;
}

Result<int> clear(const Given& given) {
  FATHOM_TRY(existing_job(given.store, given.job));
  FATHOM_TRY(given.store.clear_records(given.job, std::string(fleet::kBenchmarks)));
  return 0;
}

// Silence is a no.
Result<int> remove(const Given& given) {
  FATHOM_TRY(existing_job(given.store, given.job));
  print_beside("Remove job " + given.job + " and all its data? (Yes/No) ");
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "Yes" && answer != "yes")
    return Error{Code::kInvalid, "job " + given.job + " was not removed",
                 "answer Yes to remove it"};
  FATHOM_TRY(given.store.remove(given.job));
  return 0;
}

struct Command {
  std::string_view word;
  std::string_view needs;  // an option besides --jobid
  bool needs_job;
  Result<int> (*run)(const Given& given);
};
constexpr Command kCommands[] = {
    {"CREATE", "--info", true, create},
    {"REMOVE", "", true, remove},
    {"LIST", "", false, list},
    {"SHOW_JOB_INFO", "", true, show_info},
    {"SHOW_JOB_BENCHMARK", "--file", true, show_benchmark},
    {"SHOW_JOB_PROFILING", "--file", true, show_profiling},
    {"CLEAR_JOB_BENCHMARK", "", true, clear},
};

Result<const Command*> find_command_word(const std::string& word) {
  std::string all;
  for (const Command& command : kCommands) {
    if (command.word == word) return &command;
    all += " " + std::string(command.word);
  }
  return usage_error(
      word.empty() ? "--cmd is missing" : "--cmd '" + escape_control(word) + "' is unknown",
      "its commands are:" + all);
}

}  // namespace

Result<int> run_old_controller(const std::vector<std::string>& words) {
  FATHOM_ASSIGN(const OldWords given, parse_old_words(words, kOptions));
  FATHOM_ASSIGN(const Command* const command, find_command_word(given.value("--cmd")));
  for (const std::string_view option :
       {std::string_view(command->needs_job ? "--jobid" : ""), command->needs}) {
    if (!option.empty() && !given.has(option))
      return usage_error("--cmd " + std::string(command->word) + " needs " + std::string(option));
  }
  const std::string job = given.value("--jobid");
  if (command->word == "CREATE") FATHOM_TRY(old_job_number(job));
  FATHOM_ASSIGN(const std::string url, old_server_url(given));
  FATHOM_ASSIGN(const fleet::StorePlace place,
                fleet::find_store({.server = url, .token_file = {}}));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::JobStore> store, fleet::open_place(place));
  return command->run({.store = *store, .job = job, .words = given});
}

}  // namespace fathom::cli

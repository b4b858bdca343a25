// SPDX-License-Identifier: MIT
// `fathom suite run`: hands the works of a suite to an executor, shows how they stand, and prints
// one result. `fathom suite work` is what executors start on the machine that does a work.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <set>

#include "analysis/application/comparison.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/own_file.h"
#include "base/plural.h"
#include "base/private_files.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "containers/instructions.h"
#include "fleet/executors/docker.h"
#include "fleet/executors/jenkins.h"
#include "fleet/executors/local.h"
#include "fleet/executors/slurm.h"
#include "fleet/executors/work_place.h"
#include "fleet/suite/suite_run.h"
#include "render/json_writer.h"
#include "session/signal_queue.h"

namespace fathom::cli {
namespace {

using fleet::Executor;
using fleet::SuiteExecutor;
using fleet::SuiteResult;
using fleet::SuiteSpec;

struct Arguments {
  std::string action, path, folder, server;
  bool quiet = false;
  OutputOptions output;
};

std::string folder_by_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  (void)std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return fmt::format("fathom-suite-{}-{}", text, random_id().substr(0, 4));
}

// Never an option: command lines are seen by everybody on the machine.
Result<std::string> jenkins_token(const fleet::JenkinsOptions& options) {
  constexpr std::size_t kMost = 4096;
  if (!options.token_file.empty()) {
    FATHOM_ASSIGN(const std::string text, read_private_file(options.token_file, kMost));
    return std::string(trim(text));
  }
  const char* const token = std::getenv("JENKINS_TOKEN");
  return std::string(token == nullptr ? "" : token);
}

Result<std::unique_ptr<Executor>> make_jenkins(const SuiteSpec& spec) {
  FATHOM_ASSIGN(std::string token, jenkins_token(spec.jenkins));
  FATHOM_ASSIGN(std::unique_ptr<fleet::Web> web, fleet::open_web(spec.jenkins.url));
  auto executor =
      std::make_unique<fleet::JenkinsExecutor>(std::move(web), std::move(token), spec.jenkins);
  FATHOM_TRY(executor->check());
  return std::unique_ptr<Executor>(std::move(executor));
}

Result<std::unique_ptr<Executor>> make_docker(SuiteSpec spec, const std::string& fathom) {
  for (const fleet::SuiteEntry& entry : spec.entries)
    spec.docker.environment.insert(entry.environment.begin(), entry.environment.end());
  auto executor = std::make_unique<fleet::DockerExecutor>(
      fathom, static_cast<std::size_t>(spec.at_once), spec.docker);
  FATHOM_TRY(executor->check());
  return std::unique_ptr<Executor>(std::move(executor));
}

Result<std::unique_ptr<Executor>> make_executor(const SuiteSpec& spec, const std::string& fathom,
                                                const std::string& folder) {
  switch (spec.executor) {
    case SuiteExecutor::kLocal:
      return std::unique_ptr<Executor>(
          std::make_unique<fleet::LocalExecutor>(fathom, static_cast<std::size_t>(spec.at_once)));
    case SuiteExecutor::kDocker:
      return make_docker(spec, fathom);
    case SuiteExecutor::kSlurm:
      FATHOM_TRY(fleet::SlurmExecutor::check());
      return std::unique_ptr<Executor>(
          std::make_unique<fleet::SlurmExecutor>(fathom, folder, spec.slurm));
    case SuiteExecutor::kJenkins:
      return make_jenkins(spec);
  }
  return Error{Code::kUnsupported, "no such executor", ""};
}

std::string progress_line(const SuiteResult& result, std::size_t running) {
  std::string line = fmt::format("{} of {}, {} running", result.ended(),
                                 counted(result.items.size(), "run"), running);
  if (result.failed() > 0) line += fmt::format(", {} failed", result.failed());
  if (result.redone() > 0) line += fmt::format(", {} repeated", result.redone());
  return line;
}

// Works are started elsewhere: a relative folder is meant from where the suite was started. On
// Jenkins it is one of its workspace.
Status settle_paths(SuiteSpec& spec) {
  for (fleet::SuiteEntry& entry : spec.entries) {
    const bool elsewhere = spec.executor == SuiteExecutor::kJenkins;
    if (entry.directory.empty() && !elsewhere) entry.directory = ".";
    if (!entry.directory.empty() && !elsewhere) {
      FATHOM_ASSIGN(entry.directory, absolute_path(entry.directory));
    }
  }
  return {};
}

// For CI: an interrupted suite, one whose works are lost and one whose works fail are three things.
int status_of(const SuiteResult& result) {
  constexpr int kInterrupted = 130;
  if (result.cancelled) return kInterrupted;
  if (result.lost() > 0) return exit_status(Code::kUnavailable);
  return result.failed() > 0 ? 1 : 0;
}

// What images needed, one after the other as they end. A profile that cannot be read is told.
class Profiles {
 public:
  Profiles(const SuiteSpec& spec, const fleet::SuitePlan& plan) : spec_(spec), plan_(plan) {}

  // Calls `tell` for each that has come since.
  void look(const SuiteResult& result, const std::function<void(const std::string&)>& tell) {
    for (std::size_t i = 0; i < result.items.size(); ++i) {
      const fleet::ItemResult& one = result.items[i];
      const bool is_due = one.outcome && !spec_.entries[one.item.entry].image.empty();
      if (!is_due || !seen_.insert(i).second) continue;
      const std::string folder = profile_folder(plan_, result, i);
      if (folder.empty()) continue;  // the engine refused: its exit status says so
      const std::string name = item_name(spec_, one.item);
      Result<analysis::ProfileFigures> figures = analysis::load_figures(folder);
      if (!figures) {
        tell(name + ": " + figures.error().message);
        continue;
      }
      figures->name = name;
      tell(name + ": " + short_words(*figures));
      by_item_.emplace(i, std::move(*figures));
    }
  }

  // In the order of the works, however they ended.
  [[nodiscard]] Table table() const {
    std::vector<analysis::ProfileFigures> all;
    for (const auto& [item, figures] : by_item_) all.push_back(figures);
    return comparison_table(all);
  }

 private:
  const SuiteSpec& spec_;
  const fleet::SuitePlan& plan_;
  std::set<std::size_t> seen_;
  std::map<std::size_t, analysis::ProfileFigures> by_item_;
};

List objects_of(const Table& table) {
  List rows;
  for (const auto& row : table.rows) {
    Object object;
    for (std::size_t i = 0; i < row.size(); ++i) object.emplace_back(table.columns[i].name, row[i]);
    rows.emplace_back(std::move(object));
  }
  return rows;
}

Status print_result(const SuiteSpec& spec, const SuiteResult& result, const Table& needs,
                    const Output& output) {
  if (output.format == render::Format::kJson) {
    Value all = suite_object(spec, result);
    std::get<Object>(all.data).emplace_back("needs", objects_of(needs));
    std::string text;
    render::JsonWriter(text).value(all);
    return print(text + "\n");
  }
  if (needs.rows.empty())
    return print(render::render(suite_table(spec, result), output.format, output.style));
  const Table tables[] = {suite_table(spec, result), needs};
  return print(render::render_document(tables, output.format, output.style));
}

void tell_troubles(const SuiteSpec& spec, const SuiteResult& result, const std::string& folder) {
  constexpr std::size_t kMost = 10;
  std::size_t told = 0;
  for (const fleet::ItemResult& one : result.items) {
    const bool failed = one.has_failed();
    if ((!failed && one.lost.empty()) || ++told > kMost) continue;
    const std::string& name = spec.entries[one.item.entry].name;
    if (failed)
      remark(fmt::format("{}: exit status {}{}", name, one.outcome->exit,
                         one.outcome->timed_out ? " (timed out)" : ""));
    for (const std::string& why : one.lost) remark(fmt::format("{}: lost: {}", name, why));
  }
  if (told > kMost) remark(fmt::format("and {} more", told - kMost));
  if (told > 0) remark("logs of all runs are in " + folder);
}

Result<int> run_it(const Arguments& a) {
  FATHOM_ASSIGN(const Output output, output_of(a.output));
  FATHOM_ASSIGN(const std::string text, containers::read_instruction_file(a.path));
  FATHOM_ASSIGN(SuiteSpec spec, fleet::parse_suite(text, a.path));
  FATHOM_TRY(settle_paths(spec));
  FATHOM_ASSIGN(const std::string folder,
                absolute_path(a.folder.empty() ? folder_by_time() : a.folder));
  FATHOM_ASSIGN(const std::string own, fleet::own_program());
  const fleet::SuitePlan plan = {random_id().substr(0, 12), folder,
                                 spec.fathom.empty() ? own : spec.fathom, a.server};
  FATHOM_TRY(make_private_dir(folder));
  FATHOM_ASSIGN(const std::unique_ptr<Executor> executor, make_executor(spec, plan.fathom, folder));
  FATHOM_ASSIGN(session::SignalQueue signals, session::SignalQueue::open());
  Progress line;
  Profiles profiles(spec, plan);
  const auto tell_profile = [&](const std::string& words) {
    if (a.quiet) return;
    line.clear();
    remark(words);
  };
  fleet::SuiteHooks hooks;
  hooks.wait = [&](int wait_ms) { return signals.told_to_end(wait_ms); };
  hooks.progress = [&](const SuiteResult& result, std::size_t running) {
    profiles.look(result, tell_profile);
    if (!a.quiet && line.due()) line.show(progress_line(result, running));
  };
  FATHOM_ASSIGN(const SuiteResult result, fleet::run_suite(spec, *executor, plan, hooks));
  line.clear();
  FATHOM_TRY(print_result(spec, result, profiles.table(), output));
  if (!a.quiet) tell_troubles(spec, result, folder);
  return status_of(result);
}

Result<int> run(Parser& parser) {
  Arguments a;
  parser.positional("ACTION", a.action, "run");
  parser.positional("SPEC", a.path, "the suite, a file in YAML");
  parser.option("-o,--output", a.folder, "DIR",
                "folder for logs and results (default: fathom-suite-<time>)");
  parser.option("--server", a.server, "URL", "server that agents send to");
  parser.flag("-q,--quiet", a.quiet, "print only the result");
  declare_output(parser, a.output);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  // For executors alone, which name the folder of a task: --help does not tell of it.
  if (a.action == "work") return fleet::do_work(a.path);
  if (a.action != "run")
    return usage_error("'" + escape_control(a.action) + "' is not 'run'",
                       "run 'fathom suite --help' for usage");
  return run_it(a);
}

}  // namespace

extern const CommandDef kSuiteCommand;
const CommandDef kSuiteCommand = {
    .name = "suite",
    .summary = "Run many programs with many parameters: here, in containers, with Slurm or Jenkins",
    .usage = "run [OPTION…] SPEC",
    .example =
        "fathom suite run nightly.yaml\n"
        "fathom suite run nightly.yaml -o results --format json",
    .run = run,
};

}  // namespace fathom::cli

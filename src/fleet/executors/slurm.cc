// SPDX-License-Identifier: MIT
// An array for each submit(): one call of sbatch for any number of tasks. Its script only says
// which place belongs to which task. A task that is lost is cancelled by whoever notices; should
// its node come back, it finds nothing to do.
#include "fleet/executors/slurm.h"

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "base/private_files.h"
#include "base/text.h"
#include "fleet/executors/tool.h"
#include "fleet/executors/work_place.h"

namespace fathom::fleet {
namespace {

// Of a task that Slurm has no more: files of other nodes may come later than its word.
constexpr std::int64_t kPatience = 5'000'000'000;

// Words of squeue. Those in neither list are ends.
bool holds_a_node(const std::string& state) {
  return state == "RUNNING" || state == "COMPLETING" || state == "SUSPENDED" ||
         state == "STOPPED" || state == "SIGNALING" || state == "STAGE_OUT";
}

bool waits(const std::string& state) {
  return state == "PENDING" || state == "CONFIGURING" || state == "REQUEUED" ||
         state == "REQUEUE_HOLD" || state == "REQUEUE_FED" || state == "RESV_DEL_HOLD" ||
         state == "SPECIAL_EXIT" || state == "RESIZING";
}

void add_option(std::vector<std::string>& words, const std::string& name,
                const std::string& value) {
  if (!value.empty()) words.push_back(name + "=" + value);
}

}  // namespace

SlurmExecutor::SlurmExecutor(std::string fathom, std::string folder, SlurmOptions options)
    : fathom_(std::move(fathom)), folder_(std::move(folder)), options_(std::move(options)) {}

Status SlurmExecutor::check() {
  const Result<std::string> pinged = run_tool_well({"scontrol", "ping"});
  if (pinged && pinged->find(" UP") != std::string::npos) return {};
  return Error{Code::kUnavailable,
               pinged ? "slurmctld does not answer" : std::string(pinged.error().message),
               "'scontrol ping' must say UP here"};
}

// An array's tasks differ only by their number, so the script says which place is whose.
Result<std::string> SlurmExecutor::write_script(const std::vector<Work>& works) {
  std::string script = "#!/bin/sh\ncase \"$SLURM_ARRAY_TASK_ID\" in\n";
  for (std::size_t i = 0; i < works.size(); ++i)
    script += std::to_string(i) + ") exec " + shell_join(words_of_worker(fathom_, works[i].place)) +
              " ;;\n";
  script += "esac\n";
  const std::string path = join_path(folder_, "array-" + std::to_string(++arrays_) + ".sh");
  FATHOM_TRY(write_private_atomic(path, script));
  return path;
}

// afterany, not afterok: what a benchmark's status means is the suite's to decide, not the queue's.
std::string SlurmExecutor::dependency_of(const std::vector<std::string>& after) const {
  std::set<std::string> tasks;
  for (const std::string& id : after) {
    const auto found = entries_.find(id);
    if (found != entries_.end() && found->second.state.phase != WorkPhase::kLost)
      tasks.insert(found->second.task);
  }
  std::string text;
  for (const std::string& task : tasks) text += ":" + task;
  return text.empty() ? "" : "afterany" + text;
}

std::vector<std::string> SlurmExecutor::sbatch_words(const std::vector<Work>& works,
                                                     const std::vector<std::string>& after) const {
  std::string tasks = "0-" + std::to_string(works.size() - 1);
  if (options_.at_once > 0) tasks += "%" + std::to_string(options_.at_once);
  std::vector<std::string> words = {"sbatch",
                                    "--parsable",
                                    "--array=" + tasks,
                                    "--job-name=fathom-suite",
                                    "--output=/dev/null",
                                    "--error=/dev/null",
                                    options_.requeue ? "--requeue" : "--no-requeue"};
  add_option(words, "--partition", options_.partition);
  add_option(words, "--account", options_.account);
  add_option(words, "--time", options_.time);
  add_option(words, "--mem", options_.memory);
  if (options_.cpus > 0) add_option(words, "--cpus-per-task", std::to_string(options_.cpus));
  if (options_.exclusive) words.emplace_back("--exclusive");
  add_option(words, "--dependency", dependency_of(after));
  std::set<std::string> avoid;
  for (const Work& work : works) avoid.insert(work.avoid.begin(), work.avoid.end());
  add_option(words, "--exclude", join({avoid.begin(), avoid.end()}, ","));
  return words;
}

Status SlurmExecutor::submit(const std::vector<Work>& works,
                             const std::vector<std::string>& after) {
  if (works.empty()) return {};
  for (const Work& work : works) FATHOM_TRY(prepare_place(work));
  FATHOM_ASSIGN(std::string script, write_script(works));
  std::vector<std::string> words = sbatch_words(works, after);
  words.push_back(std::move(script));
  FATHOM_ASSIGN(const std::string said, run_tool_well(words));
  const std::optional<std::string> job = parse_sbatch(said);
  if (!job)
    return Error{Code::kUnavailable, "sbatch gave no job number: " + escape_control(trim(said)),
                 ""};
  for (std::size_t i = 0; i < works.size(); ++i) {
    Entry& entry = entries_[works[i].id];
    entry.place = works[i].place;
    entry.task = *job + "_" + std::to_string(i);
    entry.after = after;
  }
  return {};
}

// Tasks that wait are told of the new one; those that run already waited long enough.
void SlurmExecutor::replaced(const std::string& lost, const std::string& again) {
  std::set<std::string> told;
  for (auto& [id, entry] : entries_) {
    const auto place = std::ranges::find(entry.after, lost);
    if (place == entry.after.end()) continue;
    *place = again;
    const std::string job = entry.task.substr(0, entry.task.find('_'));
    if (entry.state.phase != WorkPhase::kWaiting || !told.insert(job).second) continue;
    (void)run_tool(
        {"scontrol", "update", "JobId=" + job, "Dependency=" + dependency_of(entry.after)});
  }
}

// Slurm takes minutes to notice that a node is gone. The worker writes a number into its place that
// grows (do_work.cc); by our clock alone, since the node's may be wrong.
void SlurmExecutor::look_at_running(Entry& entry) {
  const std::int64_t now = now_monotonic_ns();
  const std::int64_t beat = read_beat(entry.place);
  if (entry.beat_ns == 0 || beat != entry.beat) {
    entry.beat = beat;
    entry.beat_ns = now;
  }
  if (now - entry.beat_ns < options_.lease_ns) return;
  entry.state.phase = WorkPhase::kLost;
  entry.state.why = "node " + entry.state.host + " stopped responding";
}

void SlurmExecutor::look_at_gone(Entry& entry) {
  const std::int64_t now = now_monotonic_ns();
  if (entry.gone_ns == 0) entry.gone_ns = now;
  if (now - entry.gone_ns < kPatience) return;
  entry.state.phase = WorkPhase::kLost;
  entry.state.why = "Slurm ended it without a result";
}

// The result decides, whatever Slurm says: a task that has written one has ended well, even if its
// node died then.
void SlurmExecutor::look_at(Entry& entry, const std::map<std::string, SlurmTask>& tasks) {
  if (entry.state.phase == WorkPhase::kEnded || entry.state.phase == WorkPhase::kLost) return;
  entry.state.outcome = read_outcome(entry.place);
  if (entry.state.outcome) {
    entry.state.phase = WorkPhase::kEnded;
    entry.state.host = entry.state.outcome->host;
    return;
  }
  const auto found = tasks.find(entry.task);
  if (found == tasks.end()) return look_at_gone(entry);
  entry.gone_ns = 0;
  entry.state.why = found->second.reason;
  if (waits(found->second.state)) {
    entry.state.phase = WorkPhase::kWaiting;
  } else if (holds_a_node(found->second.state)) {
    entry.state.phase = WorkPhase::kRunning;
    entry.state.host = found->second.node;
    look_at_running(entry);
  } else {
    look_at_gone(entry);  // FAILED, NODE_FAIL, CANCELLED, OUT_OF_MEMORY, …
  }
}

Result<std::map<std::string, WorkState>> SlurmExecutor::states() {
  std::set<std::string> jobs;
  for (const auto& [id, entry] : entries_) {
    if (entry.state.phase == WorkPhase::kWaiting || entry.state.phase == WorkPhase::kRunning)
      jobs.insert(entry.task.substr(0, entry.task.find('_')));
  }
  std::map<std::string, SlurmTask> tasks;
  if (!jobs.empty()) {
    FATHOM_ASSIGN(const ToolRun squeue, run_tool({"squeue", "--noheader", "--array", "--states=all",
                                                  "--jobs=" + join({jobs.begin(), jobs.end()}, ","),
                                                  std::string("--format=") + kSqueueFormat}));
    // A job that Slurm has forgotten is an error to it where nothing else was asked for.
    if (squeue.exit != 0 && squeue.err.find("Invalid job id") == std::string::npos)
      return Error{Code::kUnavailable, "squeue failed: " + escape_control(trim(squeue.err)), ""};
    tasks = parse_squeue(squeue.out);
  }
  std::map<std::string, WorkState> states;
  for (auto& [id, entry] : entries_) {
    look_at(entry, tasks);
    states[id] = entry.state;
  }
  return states;
}

Status SlurmExecutor::cancel(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.state.phase == WorkPhase::kEnded) return {};
  FATHOM_ASSIGN(const ToolRun run, run_tool({"scancel", "--quiet", found->second.task}));
  (void)run;  // one that has ended meanwhile is an error to it
  found->second.state.phase = WorkPhase::kLost;
  if (found->second.state.why.empty()) found->second.state.why = "it was cancelled";
  return {};
}

Result<std::string> SlurmExecutor::log(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return Error{Code::kNotFound, "no work '" + id + "'", ""};
  return read_log(found->second.place);
}

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// The loop that asks an executor how works stand. It decides three things only: what may begin,
// what must be done again, and when all is over.
#include "fleet/suite/suite_run.h"

#include <algorithm>
#include <map>

#include "analysis/application/comparison.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kAttempts = 2;

class Suite {
 public:
  Suite(const SuiteSpec& spec, Executor& executor, const SuitePlan& plan, const SuiteHooks& hooks)
      : spec_(spec), executor_(executor), plan_(plan), hooks_(hooks) {}

  Result<SuiteResult> run() {
    result_.run = plan_.run;
    FATHOM_ASSIGN(std::vector<SuiteItem> items, items_of(spec_));
    for (SuiteItem& item : items) result_.items.emplace_back().item = std::move(item);
    submitted_.resize(spec_.entries.size());
    if (const Status went = go(); !went) {
      cancel_all();
      return went.error();
    }
    return std::move(result_);
  }

 private:
  Status go() {
    int wait_ms = kShortest;
    while (true) {
      FATHOM_TRY(submit_ready());
      FATHOM_ASSIGN(const bool changed, look());
      hooks_.progress(result_, running_);
      if (open_.empty() && std::ranges::all_of(submitted_, [](bool yes) { return yes; })) return {};
      wait_ms = changed ? kShortest : std::min(2 * wait_ms, executor_.poll_ms());
      if (hooks_.wait(wait_ms)) {
        result_.cancelled = true;
        cancel_all();
        return {};
      }
    }
  }

  [[nodiscard]] std::string id_of(std::size_t item, std::size_t attempt) const {
    return plan_.run + "." + std::to_string(item) + "." + std::to_string(attempt);
  }

  // Where a build server runs it, files come back from the folder that it works in.
  [[nodiscard]] std::vector<std::string> container_command(const SuiteItem& item,
                                                           const std::string& place) const {
    const bool comes_back = spec_.executor == SuiteExecutor::kJenkins;
    std::vector<std::string> words = {
        plan_.fathom, "container", "run",
        "-q",         "-o",        comes_back ? kProfileFolder : join_path(place, kProfileFolder),
        "--"};
    words.insert(words.end(), item.command.begin(), item.command.end());
    return words;
  }

  // An agent sends what it measured under the item's id, whichever attempt it is: the server counts
  // it once.
  [[nodiscard]] std::vector<std::string> command_of(const SuiteItem& item, const std::string& id,
                                                    const std::string& place) const {
    const SuiteEntry& entry = spec_.entries[item.entry];
    if (!entry.image.empty()) return container_command(item, place);
    std::vector<std::string> inner = executor_.wrap(id, item.command);
    if (entry.measure == SuiteMeasure::kNothing) return inner;
    const bool bench = entry.measure == SuiteMeasure::kBench;
    std::vector<std::string> words = {plan_.fathom, "agent", bench ? "bench" : "profile", "--job",
                                      entry.job};
    if (!plan_.server.empty()) words.insert(words.end(), {"--server", plan_.server});
    if (bench) words.insert(words.end(), {"-r", std::to_string(entry.repetitions)});
    words.emplace_back("--");
    words.insert(words.end(), inner.begin(), inner.end());
    return words;
  }

  Work work_of(std::size_t number) {
    ItemResult& result = result_.items[number];
    const SuiteEntry& entry = spec_.entries[result.item.entry];
    Work work;
    work.id = id_of(number, result.ids.size() + 1);
    work.place = join_path(
        plan_.folder, join_path(std::to_string(number), std::to_string(result.ids.size() + 1)));
    work.command = command_of(result.item, work.id, work.place);
    work.environment = entry.environment;
    work.environment["FATHOM_WORK_ID"] = plan_.run + "." + std::to_string(number);
    work.directory = entry.directory;
    work.timeout_ns = entry.timeout_ns;
    if (!entry.image.empty()) work.grace_ns = kContainerGraceNs;
    if (!result.ids.empty() && !result.host.empty()) work.avoid.push_back(result.host);
    result.ids.push_back(work.id);
    open_[work.id] = number;
    return work;
  }

  [[nodiscard]] bool has_ended(const std::string& name) const {
    for (const auto& [id, number] : open_) {
      if (spec_.entries[result_.items[number].item.entry].name == name) return false;
    }
    for (std::size_t i = 0; i < spec_.entries.size(); ++i) {
      if (spec_.entries[i].name == name) return submitted_[i];
    }
    return true;
  }

  // The latest attempts of an entry's items.
  void add_ids(const std::string& name, std::vector<std::string>& ids) const {
    for (const ItemResult& result : result_.items) {
      if (spec_.entries[result.item.entry].name == name && !result.ids.empty())
        ids.push_back(result.ids.back());
    }
  }

  Status submit_ready() {
    for (std::size_t i = 0; i < spec_.entries.size(); ++i) {
      if (submitted_[i]) continue;
      const std::vector<std::string>& after = spec_.entries[i].after;
      const bool may = executor_.orders_work() || std::ranges::all_of(after, [&](const auto& name) {
                         return has_ended(name);
                       });
      if (!may) continue;
      std::vector<std::string> ids;
      for (const std::string& name : after) add_ids(name, ids);
      std::vector<Work> works;
      for (std::size_t item = 0; item < result_.items.size(); ++item) {
        if (result_.items[item].item.entry == i) works.push_back(work_of(item));
      }
      submitted_[i] = true;
      FATHOM_TRY(executor_.submit(works, ids));
    }
    return {};
  }

  // Asks how all stand; true where something has changed. An executor that does not answer is asked
  // again, for a while.
  Result<bool> look() {
    const Result<std::map<std::string, WorkState>> states = executor_.states();
    if (!states) {
      const std::int64_t now = now_monotonic_ns();
      if (silent_ns_ == 0) silent_ns_ = now;
      if (states.error().code != Code::kUnavailable || now - silent_ns_ > kMostSilence)
        return states.error();
      return false;
    }
    silent_ns_ = 0;
    running_ = 0;
    bool changed = false;
    for (const auto& [id, number] : std::map(open_)) {
      const auto state = states->find(id);
      if (state == states->end()) continue;
      if (state->second.phase == WorkPhase::kRunning) ++running_;
      if (state->second.phase == WorkPhase::kEnded) {
        FATHOM_TRY(take(id, number, state->second));
        changed = true;
      } else if (state->second.phase == WorkPhase::kLost) {
        FATHOM_TRY(do_again(id, number, state->second));
        changed = true;
      }
    }
    return changed;
  }

  Status take(const std::string& id, std::size_t number, const WorkState& state) {
    ItemResult& result = result_.items[number];
    FATHOM_TRY(executor_.fetch(id));
    result.outcome = state.outcome;
    result.host = state.host;
    open_.erase(id);
    const std::string profile = profile_folder(plan_, result_, number);
    const Result<analysis::ProfileFigures> figures =
        profile.empty() ? Error{Code::kNotFound, "", ""} : analysis::load_figures(profile);
    result.accepted = figures && is_accepted(*figures);
    return {};
  }

  // An image's check of success may accept other statuses than 0.
  static bool is_accepted(const analysis::ProfileFigures& figures) {
    return figures.is_checked && std::ranges::all_of(figures.runs, [](const auto& run) {
             return run.success.value_or(false);
           });
  }

  Status do_again(const std::string& id, std::size_t number, const WorkState& state) {
    ItemResult& result = result_.items[number];
    result.lost.push_back(state.why);
    result.host = state.host;
    open_.erase(id);
    (void)executor_.cancel(id);  // should it come back, nobody wants it
    if (result.ids.size() >= kAttempts) return {};
    FATHOM_TRY(executor_.submit({work_of(number)}, {}));
    executor_.replaced(id, result.ids.back());
    return {};
  }

  void cancel_all() {
    for (const auto& [id, number] : open_) (void)executor_.cancel(id);
    open_.clear();
  }

  static constexpr int kShortest = 20;
  // For a container to be ended and removed, by whoever made it.
  static constexpr std::int64_t kContainerGraceNs = 30'000'000'000;
  static constexpr std::int64_t kMostSilence = 120'000'000'000;

  const SuiteSpec& spec_;
  Executor& executor_;
  const SuitePlan& plan_;
  const SuiteHooks& hooks_;
  SuiteResult result_;
  std::vector<bool> submitted_;              // of each entry
  std::map<std::string, std::size_t> open_;  // items by the ids that may still end
  std::size_t running_ = 0;
  std::int64_t silent_ns_ = 0;
};

}  // namespace

std::string profile_folder(const SuitePlan& plan, const SuiteResult& result, std::size_t number) {
  const ItemResult& one = result.items[number];
  const std::string place =
      join_path(plan.folder, join_path(std::to_string(number), std::to_string(one.ids.size())));
  for (const std::string& folder :
       {join_path(place, kProfileFolder), join_path(join_path(place, "files"), kProfileFolder)}) {
    if (one.outcome && is_directory(folder)) return folder;
  }
  return "";
}

std::size_t SuiteResult::ended() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(items, [](const ItemResult& one) { return one.outcome.has_value(); }));
}

std::size_t SuiteResult::failed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(items, [](const ItemResult& one) { return one.has_failed(); }));
}

std::size_t SuiteResult::lost() const { return items.size() - ended(); }

std::size_t SuiteResult::redone() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(items, [](const ItemResult& one) { return one.ids.size() > 1; }));
}

Result<SuiteResult> run_suite(const SuiteSpec& spec, Executor& executor, const SuitePlan& plan,
                              const SuiteHooks& hooks) {
  return Suite(spec, executor, plan, hooks).run();
}

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// Phases are regions, told apart by name and category: those of fathom.torch, fathom.jax,
// fathom.tensorflow and fathom.keras, of DFTracer's `ai`, of PyTorch's profiler, and those that
// people annotate by these words.
#include "analysis/walk/training_pass.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/walk/made_rows.h"
#include "analysis/walk/thread_walk.h"
#include "analysis/walk/wall.h"
#include "base/cell.h"

namespace fathom::analysis {
namespace {

// The first that fits. DFTracer calls the optimizer compute/step, and what a loop does between two
// fetches fetch.block, or fetch.yield in its first version.
constexpr char kKinds[] = R"(
    WITH named AS (
      SELECT name, category, lower(name) AS n, lower(coalesce(category, '')) AS c,
             CAST(sum(calls) AS BIGINT) AS calls
      FROM summary WHERE layer = 'app' GROUP BY name, category)
    SELECT name, category, calls, CASE
      WHEN n = 'step' AND c = 'compute'
        OR regexp_matches(n, '^optimi[sz]er([._]step.*)?$') THEN 'optimizer'
      WHEN n IN ('fetch.block', 'fetch.yield') OR regexp_matches(
        n, '^(profiler|train(ing)?[ ._-]?)?(step|iteration)([ ._#:-]?[0-9]+|[.](block|yield))?$')
        THEN 'step'
      WHEN n IN ('evaluate', 'evaluation', 'validate', 'validation')
        OR c = 'pipeline' AND NOT suffix(n, '.iter') OR regexp_matches(
        n, '^((train|training|test)[ ._-]?)?epoch([ ._#:-]?[0-9]+|[.](block|yield))?$')
        THEN 'epoch'
      WHEN c = 'checkpoint' OR contains(n, 'checkpoint') THEN 'checkpoint'
      WHEN c IN ('compile', 'compilation') OR n IN ('compile', 'compilation') THEN 'compile'
      WHEN regexp_matches(n, '(^|[.])forward$') THEN 'forward'
      WHEN regexp_matches(n, '(^|[.])backward$') THEN 'backward'
      WHEN c IN ('dataloader', 'data_loader', 'data', 'fetch', 'reader', 'read', 'io', 'i/o')
        OR n IN ('fetch', 'fetch.iter', 'dataloader', 'data_loader', 'data_loading', 'load_data',
                 'load_batch', 'next_batch')
        OR starts_with(n, 'enumerate(dataloader)') THEN 'data'
      WHEN c = 'compute' OR n = 'compute' THEN 'compute' END AS kind
    FROM named WHERE kind IS NOT NULL)";

constexpr std::int64_t kMostSteps = 200'000;

enum class Phase : std::uint8_t {
  kNone,
  kStep,
  kEpoch,
  kCompute,
  kData,
  kForward,
  kBackward,
  kOptimizer,
  kCheckpoint,
  kCompile,
};
constexpr std::size_t kPhases = 10;
constexpr std::array<const char*, kPhases> kNames = {
    "",        "step",     "epoch",     "compute",    "data",
    "forward", "backward", "optimizer", "checkpoint", "compile"};
// Those with a sum of their own.
constexpr std::array kSummed = {Phase::kData,      Phase::kForward,    Phase::kBackward,
                                Phase::kOptimizer, Phase::kCheckpoint, Phase::kCompile};

bool is_work(Phase phase) { return phase != Phase::kStep && phase != Phase::kEpoch; }
bool is_leaf(Phase phase) { return is_work(phase) && phase != Phase::kCompute; }
bool is_of_training(Phase phase) {
  return phase != Phase::kData && phase != Phase::kCheckpoint && phase != Phase::kCompile;
}

Phase phase_named(const std::string& name) {
  const auto found = std::ranges::find(kNames, name);
  return static_cast<Phase>(found == kNames.end() ? 0 : found - kNames.begin());
}

// A thread: what is covered in all, by work, by work that has a name, and by steps.
struct Task {
  bool any = false, trains = false;
  Wall all, work, leaf, step, compile;
  Phase outer = Phase::kNone;  // the phase up to leaf.until
  std::int64_t steps = 0;
  std::optional<std::int64_t> longest;
  std::array<std::int64_t, kPhases> own = {};
};

class TrainingPass : public WalkVisitor {
 public:
  using Kinds = std::map<std::pair<std::string, std::optional<std::string>>, Phase>;
  TrainingPass(Kinds kinds, std::uint64_t every) : known_(std::move(kinds)), every_(every) {}

  void add_thread(const WalkThread& thread) override {
    threads_.push_back(thread);
    tasks_.emplace_back();
  }
  void add_kind(const WalkKind& kind) override {
    const auto found = known_.find({kind.name.value_or(""), kind.category});
    kinds_.push_back(found == known_.end() ? Phase::kNone : found->second);
  }
  std::uint32_t enter(const WalkEvent& event, const WalkFrame*) override {
    if (const Phase phase = kinds_[event.kind]; phase != Phase::kNone) add(phase, event);
    return 0;
  }

  Status into(Store& store) {
    FATHOM_TRY(tasks_into(store));
    MadeRows rows(kTrainingSteps);
    auto& host = rows.texts("host");
    auto& pid = rows.numbers("pid");
    auto& dur = rows.numbers("dur");
    for (const auto& [thread, took] : steps_) {
      host.add(threads_[thread].host);
      pid.add(threads_[thread].pid);
      dur.add(took);
    }
    return rows.into(store);
  }

 private:
  void add(Phase phase, const WalkEvent& event) {
    Task& task = tasks_[event.thread];
    task.any = true;
    task.trains |= is_of_training(phase);
    task.all.add(event.ts, event.end());
    if (is_work(phase)) task.work.add(event.ts, event.end());
    if (phase == Phase::kCompile) take_out_compile(task, event);
    if (is_leaf(phase)) add_leaf(task, phase, event);
    if (phase != Phase::kStep) return;
    if (event.ts >= task.step.until) {
      task.longest = std::max(task.longest.value_or(event.dur), event.dur);
      if (is_in_sample(event.ts)) steps_.emplace_back(event.thread, event.dur);
      task.steps++;
    }
    task.step.add(event.ts, event.end());
  }

  static void add_leaf(Task& task, Phase phase, const WalkEvent& event) {
    const auto [begin, end] = task.leaf.add(event.ts, event.end());
    if (end == begin) return;
    task.own[static_cast<std::size_t>(phase)] += end - begin;
    task.outer = phase;
  }

  // A first forward pass compiles: what that took is not its own.
  static void take_out_compile(Task& task, const WalkEvent& event) {
    const auto [begin, end] = task.compile.add(event.ts, event.end());
    if (end == begin || task.leaf.until <= begin) return;
    const std::int64_t inside = std::min(end, task.leaf.until) - begin;
    task.own[static_cast<std::size_t>(task.outer)] -= inside;
    task.own[static_cast<std::size_t>(Phase::kCompile)] += inside;
  }

  // One in so many, by a hash: every sixth step may be one that saves.
  [[nodiscard]] bool is_in_sample(std::int64_t ts) const {
    return (static_cast<std::uint64_t>(ts) * UINT64_C(0x9e3779b97f4a7c15) >> 32U) % every_ == 0;
  }

  Status tasks_into(Store& store) {
    MadeRows rows(kTrainingTasks);
    ThreadColumns who(rows);
    auto& trains = rows.numbers("trains");
    auto& time = rows.numbers("time");
    auto& busy = rows.numbers("busy");
    auto& steps = rows.numbers("steps");
    auto& longest = rows.numbers("longest");
    std::vector<MadeRows::Numbers*> sums;
    for (const Phase phase : kSummed)
      sums.push_back(&rows.numbers(kNames[static_cast<std::size_t>(phase)]));
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Task& task = tasks_[i];
      if (!task.any) continue;
      who.add(threads_[i]);
      trains.add(task.trains ? 1 : 0);
      time.add(task.all.wall);
      busy.add(task.work.wall);
      steps.add(task.steps);
      longest.add(task.longest);
      for (std::size_t k = 0; k < kSummed.size(); ++k)
        sums[k]->add(task.own[static_cast<std::size_t>(kSummed[k])]);
    }
    return rows.into(store);
  }

  Kinds known_;
  std::uint64_t every_;
  std::vector<WalkThread> threads_;
  std::vector<Phase> kinds_;
  std::vector<Task> tasks_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> steps_;  // thread and duration
};

}  // namespace

Status make_training(Store& store) {
  FATHOM_ASSIGN(const Table found, store.query(kKinds));
  TrainingPass::Kinds kinds;
  std::int64_t steps = 0;
  for (const auto& row : found.rows) {
    const Phase phase = phase_named(text_of(row[3]));
    if (phase == Phase::kStep) steps += int_of(row[2]);
    const auto category = row[1].is_null() ? std::nullopt : std::optional(text_of(row[1]));
    kinds.emplace(std::pair(text_of(row[0]), category), phase);
  }
  TrainingPass pass(std::move(kinds), static_cast<std::uint64_t>(1 + steps / kMostSteps));
  FATHOM_TRY(walk_threads(store, pass, {.where = "layer = 'app' AND dur IS NOT NULL"}));
  return pass.into(store);
}

}  // namespace fathom::analysis

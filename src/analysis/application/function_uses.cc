// SPDX-License-Identifier: MIT
// One walk over the events of functions and loops. A function's own time is that without the
// functions inside it; loops, and calls of other layers, belong to the function that they are in.
#include "analysis/application/function_uses.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/application/loop_name.h"
#include "analysis/compare/sums.h"
#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/walk/thread_walk.h"

namespace fathom::analysis {
namespace {

constexpr double kNsPerSecond = 1e9;

bool is_loop(const WalkKind& kind) {
  return kind.layer == "python" && kind.name && is_loop_name(*kind.name);
}

struct Sums {
  std::int64_t calls = 0;
  std::int64_t own = 0;
  std::int64_t total = 0;  // without those inside themselves
  double cpu_s = 0;
  double memory_area = 0;
};

// Several threads may be in one function at once, and CPU and memory are those of all processes:
// what a function "uses" is what was used while it ran.
class CodeWalk final : public WalkVisitor {
 public:
  explicit CodeWalk(const Usage& usage) : usage_(usage) {}

  void add_thread(const WalkThread&) override { open_.emplace_back(); }
  void add_kind(const WalkKind& kind) override {
    kinds_.push_back({kind, is_loop(kind)});
    sums_.emplace_back();
  }
  // Recursion counts its calls and its own time each time, its total once.
  std::uint32_t enter(const WalkEvent& event, const WalkFrame*) override {
    std::vector<Open>& stack = open_[event.thread];
    while (!stack.empty() && stack.back().end <= event.ts) stack.pop_back();
    if (is_instant(event)) return 0;
    Sums& sums = sums_[event.kind];
    const std::int64_t end = stack.empty() ? event.end() : std::min(event.end(), stack.back().end);
    const std::int64_t length = std::max<std::int64_t>(end - event.ts, 0);
    ++sums.calls;
    if (!kinds_[event.kind].loop) add_own_time(stack, event.kind, length);
    const bool inside_itself = std::ranges::find(stack, event.kind, &Open::kind) != stack.end();
    if (!inside_itself) add_use(sums, event.ts, end);
    stack.push_back({end, event.kind});
    return 0;
  }

  struct Kind {
    WalkKind name;
    bool loop = false;
  };
  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<Sums>& sums() const { return sums_; }

 private:
  struct Open {
    std::int64_t end = 0;
    std::uint32_t kind = 0;
  };

  // Annotated instants, and what a program only counted.
  [[nodiscard]] bool is_instant(const WalkEvent& event) const {
    const WalkKind& kind = kinds_[event.kind].name;
    return event.dur == 0 && kind.layer == "app" && kind.category != "function";
  }

  void add_own_time(const std::vector<Open>& stack, std::uint32_t kind, std::int64_t length) {
    sums_[kind].own += length;
    for (std::size_t i = stack.size(); i-- > 0;) {
      const Open& outer = stack[i];
      if (kinds_[outer.kind].loop) continue;
      sums_[outer.kind].own -= length;
      return;
    }
  }

  void add_use(Sums& sums, std::int64_t from, std::int64_t to) const {
    sums.total += std::max<std::int64_t>(to - from, 0);
    sums.cpu_s += usage_.cpu.between(from, to);
    sums.memory_area += usage_.memory.area(from, to);
  }

  const Usage& usage_;
  std::vector<std::vector<Open>> open_;  // by thread
  std::vector<Kind> kinds_;
  std::vector<Sums> sums_;  // by kind
};

template <class Use>
void set_resources(Use& use, const Sums& sums, const Usage& usage) {
  const auto ns = static_cast<double>(sums.total);
  if (ns > 0 && !usage.cpu.empty()) use.cpu_cores = sums.cpu_s / (ns / kNsPerSecond);
  if (ns > 0 && !usage.memory.empty()) use.memory_bytes = sums.memory_area / ns;
  if (!use.cpu_cores || !use.memory_bytes)
    use.reason = ns > 0 ? "resources were not sampled" : "it took no time that could be measured";
}

using LoopKey = std::pair<std::string, std::string>;  // name and module

// The loops as the view tells them, with what was used while they ran.
Result<std::vector<LoopUse>> loops_of(Store& store, const Usage& usage,
                                      const std::map<LoopKey, Sums>& sums) {
  FATHOM_ASSIGN(const Table table,
                store.query("SELECT file, line, kind, function, module, runs, turns, total FROM "
                            "loops ORDER BY file, line, function, module"));
  std::vector<LoopUse> loops;
  for (const auto& row : table.rows) {
    LoopUse loop;
    loop.file = text_of(row[0]);
    loop.line = int_of(row[1]);
    loop.kind = text_of(row[2]);
    loop.function = text_of(row[3]);
    loop.runs = int_of(row[5]);
    loop.turns = int_of(row[6]);
    loop.total_s = number_or_zero(row[7]) / kNsPerSecond;
    const std::string name =
        loop.function + ".<" + loop.kind + " " + std::to_string(loop.line) + ">";
    const auto found = sums.find({name, text_of(row[4])});
    if (found != sums.end()) set_resources(loop, found->second, usage);
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace

Result<CodeUses> code_uses(Store& store, const Usage& usage) {
  static const std::string kOfCode = layer_sql("layer IN @code");
  CodeWalk walk(usage);
  FATHOM_TRY(walk_threads(store, walk, {.where = kOfCode.c_str()}));
  CodeUses uses;
  std::map<LoopKey, Sums> loops;
  for (std::size_t i = 0; i < walk.kinds().size(); ++i) {
    const auto& [kind, loop] = walk.kinds()[i];
    const Sums& sums = walk.sums()[i];
    if (loop) {
      loops[{kind.name.value_or(""), kind.category.value_or("")}] = sums;
    } else if (sums.calls > 0) {
      FunctionUse use{
          .name = kind.name.value_or(""),
          .layer = kind.layer.value_or(""),
          .module = kind.category.value_or(""),
          .calls = sums.calls,
          .total_s = static_cast<double>(sums.total) / kNsPerSecond,
          .self_s = static_cast<double>(std::max<std::int64_t>(sums.own, 0)) / kNsPerSecond,
          .cpu_cores = {},
          .memory_bytes = {}};
      set_resources(use, sums, usage);
      uses.functions.push_back(std::move(use));
    }
  }
  std::ranges::sort(uses.functions, {}, [](const FunctionUse& use) {
    return std::tuple(-use.self_s, use.name, use.module);
  });
  FATHOM_ASSIGN(uses.loops, loops_of(store, usage, loops));
  return uses;
}

}  // namespace fathom::analysis

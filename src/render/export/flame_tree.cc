// SPDX-License-Identifier: MIT
// Samples of every event are folded first, below a node of their event; which of these are shown is
// known only when all were seen.
#include "render/export/flame_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/sample_events.h"
#include "base/text.h"

namespace fathom::render {
namespace {

using Events = std::map<std::string, StackSums::Sum>;  // of each event, its samples and weight

bool is_python(std::string_view module) {
  return module.ends_with(".py") || module.starts_with("<frozen ") || module == "<string>" ||
         module == "<stdin>";
}

FlameKind kind_of(const FrameInfo& frame, bool of_calls) {
  const std::string_view module = frame.module;
  if (is_python(module) || is_python(frame.file)) return FlameKind::kPython;
  if (module.starts_with("[kernel") || module.starts_with("[guest.kernel") ||
      module.ends_with(".ko"))
    return FlameKind::kKernel;
  if (module == "[jit]" && frame.text.starts_with("py::")) return FlameKind::kPython;
  const bool unknown = module.empty() || module == "[jit]";
  return of_calls || unknown ? FlameKind::kOther : FlameKind::kNative;
}

class Folder {
 public:
  explicit Folder(FlameTree& tree) : tree_(tree) { tree.names.push_back({.text = "all"}); }

  void add(const StackProfile& profile, const ProfileKey& key, const StackSums& stacks) {
    StackTree& to = tree_.stacks.tree;
    const bool of_calls = key.event.empty();
    const std::uint32_t event = to.child(StackTree::kRoot, name({.text = key.event}));
    std::vector<std::uint32_t> places(stacks.tree.size());
    places[StackTree::kRoot] = to.child(event, name({.text = profile.program(key)}));
    for (std::uint32_t id = 1; id < stacks.tree.size(); ++id) {
      const StackTree::Node& node = stacks.tree.node(id);
      const FrameInfo& frame = profile.frames.frames()[node.frame];
      places[id] = to.child(
          places[node.parent],
          name({.text = frame.text, .module = frame.module, .kind = kind_of(frame, of_calls)}));
    }
    for (std::uint32_t id = 0; id < stacks.sums.size(); ++id) {
      const StackSums::Sum& sum = stacks.sums[id];
      if (sum.count != 0) tree_.stacks.add(places[id], sum.count, sum.amount);
    }
  }

 private:
  // The first module of a name is shown: another build has it elsewhere.
  std::uint32_t name(FlameName name) {
    const auto next = static_cast<std::uint32_t>(tree_.names.size());
    const bool group = name.kind == FlameKind::kGroup;
    const auto [found, fresh] = ids_.try_emplace((group ? "g" : "f") + name.text, next);
    if (fresh) tree_.names.push_back(std::move(name));
    return found->second;
  }

  FlameTree& tree_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

Events events_of(const StackProfile& profile) {
  Events events;
  for (const auto& [key, stacks] : profile.stacks) {
    StackSums::Sum& sum = events[key.event];
    for (const StackSums::Sum& one : stacks.sums) {
      sum.count += one.count;
      sum.amount += one.amount;
    }
  }
  std::erase_if(events, [](const auto& entry) { return entry.second.amount <= 0; });
  return events;
}

// Time where there is some; else the event that was sampled most: numbers of two events do not add
// up.
std::set<std::string> on_cpu(const Events& events) {
  std::set<std::string> times;
  std::string most;
  for (const auto& [event, sum] : events) {
    if (event == analysis::kOffCpuEvent) continue;
    if (analysis::is_time_event(event)) times.insert(event);
    if (most.empty() || sum.count > events.at(most).count) most = event;
  }
  if (times.empty() && !most.empty()) times.insert(most);
  return times;
}

std::set<std::string> chosen(const Events& events, StackWeight weight) {
  if (weight == StackWeight::kCalls)
    return events.contains("") ? std::set<std::string>{""} : std::set<std::string>();
  std::set<std::string> found;
  if (weight != StackWeight::kOffCpu) found = on_cpu(events);
  const bool adds_up = std::ranges::all_of(found, analysis::is_time_event);
  const std::string off(analysis::kOffCpuEvent);
  const bool waits = weight == StackWeight::kOffCpu || weight == StackWeight::kAll;
  if (waits && adds_up && events.contains(off)) found.insert(off);
  return found;
}

std::string what_of(const std::set<std::string>& events, StackWeight weight) {
  if (weight == StackWeight::kCalls) return "time in recorded calls";
  if (weight == StackWeight::kOffCpu) return "time off the CPU";
  const bool time = std::ranges::all_of(events, analysis::is_time_event);
  if (!time) return *events.begin();
  const bool waits = events.contains(std::string(analysis::kOffCpuEvent));
  return waits ? "time on and off the CPU" : "CPU time";
}

// What a user who misses something can look at besides.
std::string remark_of(const Events& events, const std::set<std::string>& shown) {
  std::vector<std::string> others;
  for (const auto& [event, sum] : events) {
    const bool by_weight = event.empty() || event == analysis::kOffCpuEvent;
    if (!by_weight && !shown.contains(event)) others.push_back(event);
  }
  return others.empty() ? "" : "Samples of " + join(others, ", ") + " are shown by --name EVENT.";
}

Error nothing_there(EventStream& from, StackWeight weight) {
  if (weight == StackWeight::kCalls)
    return {Code::kNotFound, "no call was recorded", "leave --weight calls out to see samples"};
  std::string why = from.why_not_sampled();
  return {Code::kNotFound,
          weight == StackWeight::kOffCpu ? "no time off the CPU was recorded"
                                         : "no CPU time was sampled",
          why.empty() ? "'fathom run -- CMD' samples it, --weight calls shows recorded calls"
                      : std::move(why)};
}

}  // namespace

std::string_view kind_name(FlameKind kind) {
  switch (kind) {
    case FlameKind::kGroup:
      return "";
    case FlameKind::kNative:
      return "C, C++";
    case FlameKind::kPython:
      return "Python";
    case FlameKind::kKernel:
      return "kernel";
    case FlameKind::kOther:
      return "other";
  }
  return "";
}

Result<FlameTree> load_flames(EventStream& from, StackWeight weight) {
  StackProfile profile;
  FATHOM_TRY(profile.load_names(from));
  const bool calls = weight == StackWeight::kCalls;
  FATHOM_TRY(calls ? profile.load_calls(from) : profile.load_samples(from));
  const Events events = events_of(profile);
  const std::set<std::string> shown = chosen(events, weight);
  if (shown.empty()) return nothing_there(from, weight);
  FlameTree tree;
  Folder folder(tree);
  for (const auto& [key, stacks] : profile.stacks) {
    if (shown.contains(key.event)) folder.add(profile, key, stacks);
  }
  tree.totals = tree.stacks.totals();
  if (shown.size() == 1) tree.root = 1;  // a level of one event tells nothing
  tree.is_time = calls || std::ranges::all_of(shown, analysis::is_time_event);
  tree.what = what_of(shown, weight);
  tree.remark = remark_of(events, shown);
  return tree;
}

}  // namespace fathom::render

// SPDX-License-Identifier: MIT
// A pass instead of SQL: overlap needs all begins and ends of all threads in time order, which SQL
// would sort and join at many times the memory.
#include "analysis/walk/overlap_pass.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/walk/made_rows.h"
#include "analysis/walk/scope_index.h"
#include "analysis/walk/sorted_runs.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

// Words that make a region I/O, between what is no letter.
constexpr std::string_view kIoWords[] = {"io",   "read",       "reader", "write",      "writer",
                                         "data", "dataloader", "fetch",  "checkpoint", "storage"};

bool says_io(std::string_view category) {
  std::string text(category);
  for (char& letter : text) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && text[at] >= 'a' && text[at] <= 'z';
  };
  const auto has = [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
    }
    return false;
  };
  return has("i/o") || std::ranges::any_of(kIoWords, has);
}

// At this time so many more (or fewer) threads are in an activity and in nothing inside it.
struct Turn {
  std::int64_t ts;
  std::uint32_t scopes;  // of the thread
  std::int8_t io, region_io, compute;

  bool operator<(const Turn& other) const { return ts < other.ts; }
};

// Threads in each activity, and for how long that was so.
// A state is a set of three bits; the time in each of the eight is all that is kept, and every
// column of the table is a sum of some.
struct Times {
  static constexpr unsigned kLow = 1;
  static constexpr unsigned kAny = 2;
  static constexpr unsigned kComputes = 4;
  static constexpr unsigned kStates = 8;

  std::int64_t since = 0;
  std::int32_t io = 0, region_io = 0, compute = 0;
  unsigned state = 0;
  std::array<std::int64_t, kStates> time = {};

  void turn(const Turn& turn) {
    time[state] += turn.ts - since;
    since = turn.ts;
    io += turn.io;
    region_io += turn.region_io;
    compute += turn.compute;
    state =
        (io > 0 ? kLow : 0U) | (io + region_io > 0 ? kAny : 0U) | (compute > 0 ? kComputes : 0U);
  }
  // All of what is set, nothing of what is not; what is in neither may be either.
  [[nodiscard]] std::int64_t sum(unsigned set, unsigned not_set = 0) const {
    std::int64_t all = 0;
    for (unsigned i = 0; i < kStates; ++i) {
      if ((i & set) == set && (i & not_set) == 0) all += time[i];
    }
    return all;
  }
};

class OverlapPass : public WalkVisitor {
 public:
  void add_thread(const WalkThread& thread) override {
    threads_.push_back(thread);
    of_thread_.push_back(add_scopes(thread));
    of_gpu_.push_back(kNone);
  }
  void add_kind(const WalkKind& kind) override {
    activities_.push_back(work_kind_of(kind));
    gpu_.push_back(trace::is_device(kind.layer.value_or("")));
  }
  std::uint32_t enter(const WalkEvent& event, const WalkFrame* around) override {
    if (event.dur <= 0) return 0;
    const WorkKind mine = activities_[event.kind];
    if (gpu_[event.kind]) {
      add(event, scopes_of_gpu(event.thread), mine, WorkKind::kOther);
      return 0;
    }
    const bool inside = around != nullptr && !gpu_[around->event.kind];
    const WorkKind outer = inside ? activities_[around->event.kind] : WorkKind::kOther;
    if (mine != outer) add(event, of_thread_[event.thread], mine, outer);
    return 0;
  }

  Status into(Store& store) {
    std::vector<Times> times(index_.scopes().size());
    FATHOM_TRY(turns_.take([&](const Turn& turn) {
      for (const std::uint32_t scope : scopes_of_[turn.scopes]) times[scope].turn(turn);
    }));
    return write(store, times);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t add_scopes(const WalkThread& thread) {
    scopes_of_.push_back(index_.add(thread));
    return static_cast<std::uint32_t>(scopes_of_.size() - 1);
  }

  std::uint32_t scopes_of_gpu(std::uint32_t thread) {
    if (of_gpu_[thread] == kNone) {
      WalkThread nobody = threads_[thread];
      nobody.tid.reset();
      of_gpu_[thread] = add_scopes(nobody);
    }
    return of_gpu_[thread];
  }

  void add(const WalkEvent& event, std::uint32_t scopes, WorkKind mine, WorkKind outer) {
    const auto change = [&](WorkKind what) {
      return static_cast<std::int8_t>((mine == what ? 1 : 0) - (outer == what ? 1 : 0));
    };
    const Turn turn{event.ts, scopes, change(WorkKind::kIo), change(WorkKind::kRegionIo),
                    change(WorkKind::kCompute)};
    turns_.add(turn);
    turns_.add({event.end(), scopes, static_cast<std::int8_t>(-turn.io),
                static_cast<std::int8_t>(-turn.region_io),
                static_cast<std::int8_t>(-turn.compute)});
  }

  Status write(Store& store, const std::vector<Times>& times) {
    static const std::array<std::optional<std::string>, ScopeIndex::kLevels> level_names = [] {
      std::array<std::optional<std::string>, ScopeIndex::kLevels> names;
      for (std::size_t i = 0; i < names.size(); ++i) names[i] = ScopeIndex::kNames[i];
      return names;
    }();
    MadeRows rows(kOverlapTimes);
    auto& scope = rows.texts("scope");
    ThreadColumns who(rows);
    std::array<MadeRows::Numbers*, 7> columns{};
    std::size_t next = 0;
    for (const char* name : {"busy", "app_io", "unoverlapped_app_io", "posix_io",
                             "unoverlapped_posix_io", "compute", "unoverlapped_compute"})
      columns[next++] = &rows.numbers(name);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Times& of = times[i];
      scope.add(level_names[index_.scopes()[i].level]);
      who.add(index_.scopes()[i].who);
      const std::int64_t io = of.sum(Times::kAny);
      const std::int64_t compute = of.sum(Times::kComputes);
      const std::int64_t values[] = {
          io + of.sum(Times::kComputes, Times::kAny), io,
          of.sum(Times::kAny, Times::kComputes),      of.sum(Times::kLow),
          of.sum(Times::kLow, Times::kComputes),      compute,
          of.sum(Times::kComputes, Times::kAny)};
      for (std::size_t c = 0; c < columns.size(); ++c) columns[c]->add(values[c]);
    }
    return rows.into(store);
  }

  ScopeIndex index_;
  std::vector<ScopeIndex::Of> scopes_of_;
  std::vector<WalkThread> threads_;
  std::vector<std::uint32_t> of_thread_;
  std::vector<std::uint32_t> of_gpu_;  // by thread, where it saw a GPU
  std::vector<WorkKind> activities_;   // by kind
  std::vector<bool> gpu_;              // by kind
  SortedRuns<Turn> turns_;
};

}  // namespace

WorkKind work_kind_of(const WalkKind& kind) {
  const std::string layer = kind.layer.value_or("");
  const std::string category = kind.category.value_or("");
  if (trace::is_io(layer))
    return category == "process" || category == "wait" ? WorkKind::kOther : WorkKind::kIo;
  if (trace::is_device(layer)) return WorkKind::kCompute;
  if (!trace::is_code(layer)) return WorkKind::kOther;
  return says_io(category) ? WorkKind::kRegionIo : WorkKind::kCompute;
}

Status make_overlap(Store& store) {
  OverlapPass pass;
  FATHOM_TRY(walk_threads(store, pass));
  return pass.into(store);
}

}  // namespace fathom::analysis

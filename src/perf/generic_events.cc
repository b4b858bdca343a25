// SPDX-License-Identifier: MIT
// The table of generic events. Cache events are made from three lists, as the kernel numbers them.
#include "perf/generic_events.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace fathom::perf {
namespace {

struct Generic {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};

// Several names of one event: people type each of them, and perf prints back what was typed.
constexpr Generic kGeneric[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
    {"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
    {"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
};

// Which of load, store and prefetch a cache has, as bits in that order.
struct Cache {
  std::string_view name;
  std::uint64_t id;
  unsigned operations;
};
constexpr Cache kCaches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D, 7}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I, 5},
    {"LLC", PERF_COUNT_HW_CACHE_LL, 7},        {"dTLB", PERF_COUNT_HW_CACHE_DTLB, 7},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB, 1},     {"branch", PERF_COUNT_HW_CACHE_BPU, 1},
    {"node", PERF_COUNT_HW_CACHE_NODE, 7},
};

struct Operation {
  std::string_view accesses;
  std::string_view misses;
  std::uint64_t id;
};
constexpr Operation kOperations[] = {
    {"-loads", "-load-misses", PERF_COUNT_HW_CACHE_OP_READ},
    {"-stores", "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE},
    {"-prefetches", "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

template <class Take>
void each_cache_event(Take take) {
  for (const Cache& cache : kCaches) {
    for (std::size_t i = 0; i < std::size(kOperations); ++i) {
      if ((cache.operations >> i & 1U) == 0) continue;
      const std::uint64_t config = cache.id | kOperations[i].id << 8U;
      take(std::string(cache.name).append(kOperations[i].accesses), config);
      take(std::string(cache.name).append(kOperations[i].misses),
           config | std::uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16U);
    }
  }
}

Event make(std::string_view name, std::uint32_t type, std::uint64_t config) {
  Event event;
  event.name = name;
  event.type = type;
  event.config = config;
  if (event.is_clock()) event.unit = "ns";
  return event;
}

}  // namespace

std::optional<Event> find_generic(std::string_view name) {
  const auto* const found = std::ranges::find(kGeneric, name, &Generic::name);
  if (found != std::end(kGeneric)) return make(name, found->type, found->config);
  std::optional<Event> event;
  each_cache_event([&](const std::string& made, std::uint64_t config) {
    if (made == name) event = make(name, PERF_TYPE_HW_CACHE, config);
  });
  return event;
}

const std::vector<std::string>& generic_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Generic& one : kGeneric) all.emplace_back(one.name);
    each_cache_event([&](std::string made, std::uint64_t) { all.push_back(std::move(made)); });
    return all;
  }();
  return names;
}

}  // namespace fathom::perf

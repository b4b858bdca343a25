// SPDX-License-Identifier: MIT
#include "sources/ebpf/probes.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "sources/ebpf/loading.h"

namespace fathom::sources::ebpf {
namespace {

struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

int visit_record(void* context, void* data, std::size_t size) {
  const RecordVisitor& visit = *static_cast<const RecordVisitor*>(context);
  visit({static_cast<const std::byte*>(data), size});
  return 0;
}

void add(const fathom_call_sums& more, fathom_call_sums& sums) {
  sums.least_ns = sums.calls == 0 ? more.least_ns : std::min(sums.least_ns, more.least_ns);
  sums.most_ns = std::max(sums.most_ns, more.most_ns);
  sums.calls += more.calls;
  sums.errors += more.errors;
  sums.bytes += more.bytes;
  sums.ns += more.ns;
  for (int i = 0; i < FATHOM_BPF_HIST; ++i) sums.hist[i] += more.hist[i];
}

}  // namespace

class Probes::State {
 public:
  Status load(const ProbeOptions& options);
  [[nodiscard]] int map(const char* name) const { return modules.front().map(name); }

  std::vector<Loaded> modules;  // the first one has the maps
  std::unique_ptr<ring_buffer, FreeRing> ring;
  RecordVisitor visit;
};

Status Probes::State::load(const ProbeOptions& options) {
  modules.reserve(std::size(kModules));
  for (const Module& module : kModules) {
    const bool wanted =
        !module.layer || std::ranges::find(options.layers, *module.layer) != options.layers.end();
    if (!wanted) continue;
    Result<Loaded> loaded =
        load_module(module, options, modules.empty() ? nullptr : &modules.front());
    if (loaded) {
      modules.push_back(std::move(loaded).value());
    } else if (!module.is_extra) {
      return std::move(loaded).error();
    }
  }
  ring.reset(ring_buffer__new(map("ring"), visit_record, &visit, nullptr));
  if (!ring) return os_error(errno, "map the ring");
  return {};
}

Result<Probes> Probes::load(const ProbeOptions& options) {
  auto state = std::make_unique<State>();
  FATHOM_TRY(state->load(options));
  return Probes(std::move(state));
}

Probes::Probes(std::unique_ptr<State> state) : state_(std::move(state)) {}
Probes::Probes(Probes&&) noexcept = default;
Probes& Probes::operator=(Probes&&) noexcept = default;
Probes::~Probes() = default;

Status Probes::adopt(pid_t process) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!pidfd.valid()) return os_error(errno, "open process " + std::to_string(process));
  const fathom_task state{};
  const int key = pidfd.get();
  if (bpf_map_update_elem(state_->map("tasks"), &key, &state, BPF_ANY) != 0)
    return os_error(errno, "follow process " + std::to_string(process));
  return {};
}

void Probes::detach() {
  for (Loaded& module : state_->modules) {
    module.links.clear();
    module.uprobes.clear();
  }
}

void Probes::take_records(const RecordVisitor& visit) {
  state_->visit = visit;
  ring_buffer__consume(state_->ring.get());
  state_->visit = nullptr;
}

std::vector<SumOfCalls> Probes::take_sums(std::uint32_t before_interval) {
  const int sums = state_->map("sums");
  std::vector<fathom_call_key> keys;
  fathom_call_key key{};
  const fathom_call_key* last = nullptr;
  for (fathom_call_key next{}; bpf_map_get_next_key(sums, last, &next) == 0;) {
    key = next;
    last = &key;
    if (key.interval < before_interval) keys.push_back(key);
  }
  // Shards are the kernel's own affair.
  const auto order = [](const fathom_call_key& a, const fathom_call_key& b) {
    return std::tie(a.interval, a.pid, a.tid, a.call, a.file) <
           std::tie(b.interval, b.pid, b.tid, b.call, b.file);
  };
  std::map<fathom_call_key, fathom_call_sums, decltype(order)> whole(order);
  for (const fathom_call_key& taken : keys) {
    fathom_call_sums part{};
    if (bpf_map_lookup_elem(sums, &taken, &part) == 0) add(part, whole[taken]);
    bpf_map_delete_elem(sums, &taken);
  }
  std::vector<SumOfCalls> result;
  for (const auto& [of, parts] : whole) result.push_back({of, parts});
  return result;
}

std::vector<std::uint64_t> Probes::losses() const {
  std::vector<std::uint64_t> counts(FATHOM_BPF_COUNTERS);
  const int cpus = libbpf_num_possible_cpus();
  std::vector<std::uint64_t> each(static_cast<std::size_t>(std::max(cpus, 1)));
  for (std::uint32_t reason = 0; reason < FATHOM_BPF_COUNTERS; ++reason) {
    if (bpf_map_lookup_elem(state_->map("losses"), &reason, each.data()) != 0) continue;
    for (const std::uint64_t count : each) counts[reason] += count;
  }
  return counts;
}

Trial try_layer(fathom_bpf_layer layer) {
  const ProbeOptions options{.layers = {layer}};
  const Result<Loaded> first = load_module(kModules[0], options, nullptr);
  if (!first)
    return {.outcome = Trial::Outcome::kRefused,
            .reason = first.error().message,
            .needs_privilege = first.error().code == Code::kDenied};
  Trial trial;
  std::vector<std::string> missing;
  for (const Module& module : kModules) {
    if (module.layer != layer) continue;
    const Result<Loaded> loaded = load_module(module, options, &*first);
    if (!loaded && !module.is_extra)
      return {.outcome = Trial::Outcome::kMissing, .reason = loaded.error().message};
    if (!loaded) missing.emplace_back(module.what);
    if (loaded) missing.insert(missing.end(), loaded->absent.begin(), loaded->absent.end());
  }
  if (missing.empty()) return {};
  return {.outcome = Trial::Outcome::kPart,
          .reason = "this kernel tells nothing of " + join(missing, ", ")};
}

}  // namespace fathom::sources::ebpf

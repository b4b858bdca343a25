// SPDX-License-Identifier: MIT
// The second half of the wrapper of libbpf: rings and maps are read, sums of all CPUs united, files
// aged. Layers that were tried are kept loaded, so that they are not loaded twice.
#include "sources/ebpf/probes.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "sources/ebpf/calls.h"
#include "sources/ebpf/kernel_hooks.h"
#include "sources/ebpf/loading.h"
#include "sources/ebpf/trials.h"
#include "sources/ebpf/uprobes.h"

namespace fathom::sources::ebpf {
namespace {

// As a deleter, since libbpf is C.
struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

// libbpf calls it for each record of the ring; 0 goes on.
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

auto key_without_shard(const SumOfCalls& one) {
  const fathom_call_key& key = one.key;
  return std::make_tuple(key.interval, key.pid, key.tid, key.call, key.file);
}

// Shards are the kernel's own affair.
void unite(std::vector<SumOfCalls>& sums) {
  std::ranges::sort(sums, {}, key_without_shard);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (kept > 0 && key_without_shard(sums[kept - 1]) == key_without_shard(sums[i]))
      add(sums[i].sums, sums[kept - 1].sums);
    else
      sums[kept++] = sums[i];
  }
  sums.resize(kept);
}

constexpr std::uint32_t kEveryInterval = ~std::uint32_t{0};
constexpr std::uint32_t kNewRows = FATHOM_BPF_COUNTER(FATHOM_BPF_LAYERS, FATHOM_NEW_ROWS);

// Not those that are online: the kernel gives a value for each that may ever be.
std::size_t possible_cpus() {
  return static_cast<std::size_t>(std::max(libbpf_num_possible_cpus(), 1));
}

// How often its programs were not run because one of ours was at work.
std::uint64_t misses_of(const Loaded& loaded) {
  std::uint64_t misses = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded.object.get()) {
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
      misses += info.recursion_misses;
  }
  return misses;
}

}  // namespace

class Probes::State {
 public:
  Status load(const ProbeOptions& wanted);
  Status set_up(const ProbeOptions& wanted);
  Status want_paths();
  CallCost measure_calls();
  Result<std::array<double, kSteps>> measure_functions();
  [[nodiscard]] int map(const char* name) const { return modules.front().map(name); }
  [[nodiscard]] Loaded* module_of(fathom_bpf_layer layer) {
    const auto found = std::ranges::find_if(
        modules, [&](const Loaded& one) { return one.module->layer == layer; });
    return found == modules.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  [[nodiscard]] std::uint64_t count_at(std::uint32_t place) const;
  [[nodiscard]] std::vector<fathom_call_key> keys_of_sums(std::uint32_t before_interval);
  struct Kept {
    std::uint32_t files = 0;
    std::uint32_t names = 0;  // of them
  };
  void count_files(const std::map<std::uint32_t, Kept>& kept);

  std::vector<Loaded> modules;  // the first one has the maps
  std::unique_ptr<ring_buffer, FreeRing> ring;
  RecordVisitor visit;
  ProbeOptions options;
  std::vector<Unprobed> unprobed;
  double bare_call_ns = 0;
  std::uint32_t age = 0;              // of files
  std::vector<std::uint64_t> before;  // counts of what was measured
  // Rows that there had been when sums were last taken, and whether some stayed.
  std::uint64_t rows_then = 0;
  bool rows_stayed = false;
};

Status Probes::State::load(const ProbeOptions& wanted) {
  options = wanted;
  const Room room{.ring_bytes = options.ring_bytes, .rows = options.rows};
  Tried from = take_tried();
  // What was tried has maps of the usual size, and a loaded map keeps its own.
  if (room.ring_bytes != 0 || room.rows != 0) from = {};
  if (!from.lives) {
    FATHOM_ASSIGN(from.lives, load_first(room));
  }
  bare_call_ns = from.bare_call_ns > 0 ? from.bare_call_ns : null_call_ns();
  // First, always: it has the maps that all others share (map()).
  modules.push_back(std::move(*from.lives));
  for (const fathom_bpf_layer layer : options.layers) {
    auto known = from.layers.find(layer);
    if (known == from.layers.end()) {
      FATHOM_ASSIGN(LoadedLayer loaded, load_layer(layer, modules.front()));
      known = from.layers.emplace(layer, std::move(loaded)).first;
    }
    std::ranges::move(known->second.modules, std::back_inserter(modules));
  }
  if (options.joins) {
    FATHOM_ASSIGN(Loaded joining, load_module(kJoining, modules.front()));
    modules.push_back(std::move(joining));
  }
  ring.reset(ring_buffer__new(map("ring"), visit_record, &visit, nullptr));
  if (!ring) return os_error(errno, "map the kernel's ring buffer");
  FATHOM_TRY(want_paths());
  FATHOM_TRY(set_up(options));
  Loaded* user = module_of(FATHOM_BPF_USER);
  if (user != nullptr) {
    FATHOM_ASSIGN(unprobed, attach_functions(*user, options.functions));
  }
  if (module_of(FATHOM_BPF_KERNEL) != nullptr) {
    FATHOM_ASSIGN(const std::vector<Unprobed> more,
                  attach_kernel_hooks(modules, options.functions));
    unprobed.insert(unprobed.end(), more.begin(), more.end());
  }
  return {};
}

Status Probes::State::set_up(const ProbeOptions& wanted) {
  for (Loaded& module : modules) FATHOM_TRY(ebpf::set_up(module, wanted));
  return {};
}

// Files by which filters and times are decided in the kernel, which only looks numbers up.
Status Probes::State::want_paths() {
  const std::uint32_t yes = 1;
  for (const fathom_file_key& key : options.plain_programs)
    (void)bpf_map_update_elem(map("plain_programs"), &key, &yes, BPF_ANY);
  for (const fathom_file_key& key : options.filters.wanted) {
    if (bpf_map_update_elem(map("wanted"), &key, &yes, BPF_ANY) != 0)
      return os_error(errno, "filter by so many paths");
  }
  for (const fathom_prefix& prefix : options.filters.wanted_texts) {
    if (bpf_map_update_elem(map("wanted_texts"), &prefix, &yes, BPF_ANY) != 0)
      return os_error(errno, "filter by so many paths");
  }
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

Status Probes::adopt(pid_t process) { return follow(state_->modules.front(), process, false); }

// The same call three times: without our programs (when they were loaded), with them at work for
// somebody else, and recorded.
CallCost Probes::State::measure_calls() {
  CallCost cost;
  cost.others_ns = std::max(0.0, null_call_ns() - bare_call_ns);
  if (!follow(modules.front(), ::getpid(), true)) return cost;
  cost.added_ns = std::max(0.0, null_call_ns() - bare_call_ns);
  unfollow(modules.front(), ::getpid());
  return cost;
}

Result<std::array<double, kSteps>> Probes::State::measure_functions() {
  FATHOM_ASSIGN(const std::vector<Function> functions, null_functions());
  std::array<double, kSteps> bare{};
  for (std::size_t i = 0; i < kSteps; ++i) bare[i] = null_function_ns(static_cast<Step>(i));
  Loaded* user = module_of(FATHOM_BPF_USER);
  const std::size_t links = user->links.size();
  const std::size_t uprobes = user->uprobes.size();
  FATHOM_TRY(attach_functions(*user, functions, kNullNumber));
  FATHOM_TRY(follow(modules.front(), ::getpid(), true));
  std::array<double, kSteps> added{};
  for (std::size_t i = 0; i < kSteps; ++i)
    added[i] = std::max(0.0, null_function_ns(static_cast<Step>(i)) - bare[i]);
  unfollow(modules.front(), ::getpid());
  // Only what this measured goes.
  user->links.resize(links);
  user->uprobes.resize(uprobes);
  return added;
}

// By recording ourselves for a moment, without the user's filters: they would leave out just these
// calls. What came of it is taken and thrown away, and counts of losses begin behind it.
Costs Probes::measure() {
  Costs costs;
  ProbeOptions unfiltered = state_->options;
  unfiltered.filters = {};
  if (!state_->set_up(unfiltered)) return costs;
  if (state_->module_of(FATHOM_BPF_SYSCALL) != nullptr) costs.system_call = state_->measure_calls();
  if (state_->module_of(FATHOM_BPF_USER) != nullptr) {
    const Result<std::array<double, kSteps>> functions = state_->measure_functions();
    if (functions) costs.function = *functions;
  }
  const auto own = static_cast<std::uint32_t>(::getpid());
  for (const SumOfCalls& one : take_sums(kEveryInterval)) {
    if (costs.system_call && one.key.pid == own &&
        one.key.call == FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, SYS_getppid))
      costs.system_call->shown_ns = static_cast<double>(one.sums.least_ns);
  }
  take_records([](std::span<const std::byte>) {});
  state_->before = state_->counts();
  (void)state_->set_up(state_->options).has_value();
  return costs;
}

std::map<std::string, std::string> Probes::hooks() const {
  std::map<std::string, std::string> hooks;
  const bool plain = state_->modules.front().flavor == Flavor::kPlain;
  hooks["kernel.hooks"] = plain ? "raw tracepoints" : "tracepoints with types";
  for (const Loaded& loaded : state_->modules) {
    if (loaded.module->layer && loaded.module->is_a_way())
      hooks["kernel." + std::string(name_of_layer(*loaded.module->layer)) + ".hooks"] =
          loaded.module->what;
  }
  return hooks;
}

const std::vector<Unprobed>& Probes::unprobed() const { return state_->unprobed; }

bool Probes::knows_programs() const {
  const Loaded* user = state_->module_of(FATHOM_BPF_USER);
  return user != nullptr && user->module->uprobes == Uprobes::kSession;
}

Status Probes::walk(const fathom_choice& choice) {
  const auto module = std::ranges::find_if(
      state_->modules, [](const Loaded& loaded) { return loaded.iterator >= 0; });
  if (module == state_->modules.end())
    return Error{Code::kUnsupported, "this kernel cannot list running tasks",
                 "only programs that start later can be recorded"};
  const std::uint32_t place = FATHOM_CHOICE_OF_WALK;
  if (bpf_map_update_elem(state_->map("choices"), &place, &choice, BPF_ANY) != 0)
    return os_error(errno, "choose tasks");
  // Twice: what a task made before it was met may bear a number that had been passed by then.
  constexpr int kWalks = 2;
  for (int i = 0; i < kWalks; ++i) {
    // Reading the iterator is what runs the program on every task; it writes nothing.
    const Fd tasks(bpf_iter_create(module->iterator));
    if (!tasks.valid()) return os_error(errno, "walk through the tasks");
    char nothing[64];
    ssize_t got = 0;
    do {
      got = ::read(tasks.get(), nothing, sizeof nothing);
    } while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
    if (got < 0) return os_error(errno, "walk through the tasks");
  }
  return {};
}

Status Probes::stand(const fathom_choice& choice) {
  const std::uint32_t place = FATHOM_CHOICE_STANDING;
  if (bpf_map_update_elem(state_->map("choices"), &place, &choice, BPF_ANY) != 0)
    return os_error(errno, "choose programs");
  return {};
}

// Maps and ring stay: what was counted can still be read.
void Probes::detach() {
  for (Loaded& module : state_->modules) {
    module.links.clear();
    module.uprobes.clear();
    module.iterator = -1;
  }
}

int Probes::records_fd() const { return ring_buffer__epoll_fd(state_->ring.get()); }

void Probes::take_records(const RecordVisitor& visit) {
  state_->visit = visit;
  ring_buffer__consume(state_->ring.get());
  // It was the caller's, and may hold what is gone now.
  state_->visit = nullptr;
}

// A walk through the map looks at all its room: where nothing came since the last one, and nothing
// had to stay, there is none.
std::vector<fathom_call_key> Probes::State::keys_of_sums(std::uint32_t before_interval) {
  std::vector<fathom_call_key> keys;
  const std::uint64_t rows = count_at(kNewRows);
  if (rows == rows_then && !rows_stayed) return keys;
  rows_then = rows;
  rows_stayed = false;
  const int sums = map("sums");
  fathom_call_key key{};
  const fathom_call_key* last = nullptr;
  for (fathom_call_key next{}; bpf_map_get_next_key(sums, last, &next) == 0;) {
    key = next;
    last = &key;
    if (key.interval < before_interval)
      keys.push_back(key);
    else
      rows_stayed = true;
  }
  return keys;
}

std::vector<SumOfCalls> Probes::take_sums(std::uint32_t before_interval) {
  const int sums = state_->map("sums");
  // Keys first, and rows by them: a walk through a hash map that deletes as it goes begins anew.
  const std::vector<fathom_call_key> keys = state_->keys_of_sums(before_interval);
  std::vector<SumOfCalls> result;
  result.reserve(keys.size());
  for (const fathom_call_key& taken : keys) {
    SumOfCalls part{.key = taken, .sums = {}};
    // Nothing is added to a row of an interval that is over.
    if (bpf_map_lookup_elem(sums, &taken, &part.sums) == 0) result.push_back(part);
    bpf_map_delete_elem(sums, &taken);
  }
  unite(result);
  return result;
}

std::vector<std::uint32_t> Probes::age_files(std::uint32_t ages) {
  ++state_->age;
  for (Loaded& module : state_->modules) (void)set_age(module, state_->age).has_value();
  constexpr std::uint32_t kAtOnce = 4096;
  const int files = state_->map("files");
  std::vector<fathom_file_key> keys(kAtOnce);
  std::vector<fathom_file> found(kAtOnce);
  std::vector<fathom_file_key> old;
  std::vector<std::uint32_t> numbers;
  std::map<std::uint32_t, State::Kept> kept;  // of users
  std::uint32_t place = 0;
  for (void* from = nullptr;; from = &place) {
    std::uint32_t count = kAtOnce;
    const int failed =
        bpf_map_lookup_batch(files, from, &place, keys.data(), found.data(), &count, nullptr);
    if (failed != 0 && errno != ENOENT) break;  // ENOENT: these are the last
    for (std::uint32_t i = 0; i < count; ++i) {
      if (state_->age - found[i].seen <= ages) {
        State::Kept& of_user = kept[found[i].user];
        ++of_user.files;
        if (keys[i].generation == FATHOM_BPF_NAMED) ++of_user.names;
        continue;
      }
      old.push_back(keys[i]);
      numbers.push_back(found[i].id & ~FATHOM_BPF_ELSEWHERE);
    }
    if (failed != 0) break;
  }
  for (const fathom_file_key& key : old) bpf_map_delete_elem(files, &key);
  state_->count_files(kept);
  return numbers;
}

// Users who have none, and took nothing lately, make room for others.
void Probes::State::count_files(const std::map<std::uint32_t, Kept>& kept) {
  const int users = map("users");
  std::vector<std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (const void* last = nullptr; bpf_map_get_next_key(users, last, &next) == 0;
       last = &numbers.back())
    numbers.push_back(next);
  for (const std::uint32_t number : numbers) {
    fathom_user user{};
    if (bpf_map_lookup_elem(users, &number, &user) != 0) continue;
    const auto found = kept.find(number);
    user.files = found == kept.end() ? 0 : found->second.files;
    user.names = found == kept.end() ? 0 : found->second.names;
    if (user.files == 0)
      bpf_map_delete_elem(users, &number);
    else
      bpf_map_update_elem(users, &number, &user, BPF_EXIST);
  }
}

std::uint64_t Probes::State::count_at(std::uint32_t place) const {
  std::vector<std::uint64_t> each(possible_cpus());
  if (bpf_map_lookup_elem(map("losses"), &place, each.data()) != 0) return 0;
  return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
}

std::vector<std::uint64_t> Probes::State::counts() const {
  std::vector<std::uint64_t> counts(FATHOM_BPF_COUNTER(FATHOM_BPF_LAYERS + 1, 0));
  const std::size_t cpus = possible_cpus();
  std::vector<std::uint64_t> each(counts.size() * cpus);
  std::vector<std::uint32_t> places(counts.size());
  auto count = static_cast<std::uint32_t>(counts.size());
  std::uint32_t next = 0;
  // All at once since Linux 5.13. (ENOENT: these were the last.)
  const int failed = bpf_map_lookup_batch(map("losses"), nullptr, &next, places.data(), each.data(),
                                          &count, nullptr);
  const bool has_all = (failed == 0 || errno == ENOENT) && count == counts.size();
  for (std::uint32_t place = 0; place < counts.size(); ++place) {
    const auto first = each.begin() + static_cast<std::ptrdiff_t>(place * cpus);
    counts[place] = has_all ? std::accumulate(first, first + static_cast<std::ptrdiff_t>(cpus),
                                              std::uint64_t{0})
                            : count_at(place);
  }
  counts[kNewRows] = 0;  // they are no loss
  for (const Loaded& module : modules) {
    if (module.module->layer == FATHOM_BPF_KERNEL)
      counts[FATHOM_BPF_COUNTER(FATHOM_BPF_KERNEL, FATHOM_LOST_INSIDE)] += misses_of(module);
  }
  return counts;
}

std::vector<std::uint64_t> Probes::losses() const {
  std::vector<std::uint64_t> counts = state_->counts();
  for (std::size_t i = 0; i < state_->before.size(); ++i) counts[i] -= state_->before[i];
  return counts;
}

}  // namespace fathom::sources::ebpf

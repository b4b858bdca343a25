// SPDX-License-Identifier: MIT
// The source `resources`: a thread beside the program that samples at a steady rate.
#include <algorithm>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/directory.h"
#include "base/files.h"
#include "base/privilege.h"
#include "sources/list.h"
#include "sources/resources/gpu_thread.h"
#include "sources/resources/pause.h"
#include "sources/resources/sampler.h"
#include "sources/source.h"
#include "trace/spool/pool_file.h"
#include "wire/spool.h"

namespace fathom::sources {
namespace {

constexpr std::string_view kLayers[] = {"resource"};
constexpr std::int64_t kThoroughEveryNs = 1'000'000'000;
// Of one core, at most a twentieth goes into sampling: a tree of thousands of processes is sampled
// less often.
constexpr std::int64_t kRestFactor = 20;

class ResourcesSource final : public Source {
 public:
  Status start(const SourceContext& context) override {
    context_ = context;
    start_ns_ = context.start_monotonic_ns;
    gpus_.start(context.hz);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    return {};
  }

  // One by one, or all of a control group: which processes a user has is not looked for.
  Status join(const Choice& choice) override {
    const std::scoped_lock lock(mutex_);
    if (choice.by == Choice::By::kProcess) joining_.push_back(choice.process);
    if (choice.by != Choice::By::kGroup) return {};
    group_ = choice.group_path;
    pause_.end();  // it may not live for long
    return {};
  }

  std::int64_t turn(trace::Strings& strings, trace::HostRows& last) override {
    drain(strings, last);
    return 0;
  }
  void turned(std::int64_t start_monotonic_ns) override {
    const std::scoped_lock lock(mutex_);
    start_ns_ = start_monotonic_ns;
  }

  void stop() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    gpus_.stop();
  }

  // The driver's thread tells them later: they are whole when it has stopped.
  [[nodiscard]] std::map<std::string, std::string> facts() const override {
    std::map<std::string, std::string> facts = gpus_.facts();
    const std::scoped_lock lock(mutex_);
    facts.insert(group_facts_.begin(), group_facts_.end());
    return facts;
  }

  void drain(trace::Strings& strings, trace::HostRows& into_rows) override {
    CounterRows rows;
    std::int64_t start_ns = 0;
    {
      const std::scoped_lock lock(mutex_);
      std::swap(rows, ready_);
      start_ns = start_ns_;
    }
    const auto into = [&](std::uint32_t code) {
      return strings.code_or_null(rows.strings.view(code));
    };
    for (trace::CounterRow row : rows.batch.rows) {
      row.ts = std::max<std::int64_t>(row.ts - start_ns, 0);  // of the moment of a turn
      row.layer = into(row.layer);
      row.name = into(row.name);
      row.unit = into(row.unit);
      into_rows.counters.rows.push_back(row);
    }
    drain_gpus(strings, start_ns, into_rows);
  }

 private:
  void drain_gpus(trace::Strings& strings, std::int64_t start_ns, trace::HostRows& into) {
    for (const GpuSample& sample : gpus_.drain()) {
      for (const GpuReading& reading : sample.readings) {
        into.counters.rows.push_back(
            {.ts = std::max<std::int64_t>(sample.monotonic_ns - start_ns, 0),
             .pid = reading.pid != 0 ? reading.pid : trace::kNull32,
             .tid = trace::kNull32,
             .layer = strings.code("resource"),
             .name = strings.code(reading.name),
             .unit = strings.code(reading.unit),
             .host = trace::kNoString,
             .value = reading.value});
      }
    }
  }

  // Samples until stop, and once more then: the program's last state.
  void work(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { pause_.end(); });
    Sampler sampler;
    if (context_.root_pid > 0) sampler.add(context_.root_pid);
    const auto period = static_cast<std::int64_t>(1e9 / context_.hz);
    std::int64_t next_thorough = 0;
    for (bool last = false; !last;) {
      last = stop.stop_requested();
      const std::int64_t begin = now_monotonic_ns();
      const std::int64_t used = now_thread_cpu_ns();
      const bool thorough = begin >= next_thorough;
      if (thorough) {
        next_thorough = begin + kThoroughEveryNs;
        add_recorded_processes(sampler);
        sampler.add_members();
      }
      add_joining_processes(sampler);
      take(sampler, begin, thorough);
      gpus_.set_processes(sampler.pids());
      watch_first(sampler);
      const std::int64_t spent = now_monotonic_ns() - begin;
      const std::int64_t dues = (now_thread_cpu_ns() - used) * kRestFactor;
      if (!last) pause_.rest(std::max(period - spent, dues));
    }
  }

  void take(Sampler& sampler, std::int64_t now, bool thorough) {
    // Sampling reads files for a while: the rows are handed over at the end, so that drain() never
    // waits for it.
    CounterRows rows;
    sampler.sample(now, thorough, rows);  // by the monotonic clock until they are drained
    const std::scoped_lock lock(mutex_);
    group_facts_ = sampler.facts();
    for (trace::CounterRow row : rows.batch.rows) {
      row.layer = ready_.strings.code(rows.strings.view(row.layer));
      row.name = ready_.strings.code(rows.strings.view(row.name));
      row.unit = ready_.strings.code(rows.strings.view(row.unit));
      ready_.batch.rows.push_back(row);
    }
  }

  void add_joining_processes(Sampler& sampler) {
    const std::scoped_lock lock(mutex_);
    for (const pid_t process : std::exchange(joining_, {})) sampler.add(process);
    if (!group_.empty()) sampler.watch_group(group_);
  }

  // Processes that left the tree (daemons), or that nobody started for us, are known by the
  // segments that they own. The number may be another's by now, or that of another pid namespace:
  // whoever has the pool mapped is meant.
  void add_recorded_processes(Sampler& sampler) const {
    const Result<std::string> recording = real_path(context_.directory);
    if (!recording) return;
    const Result<Directory> spool = Directory::open_beneath(join_path(*recording, "spool"));
    const auto names = spool ? spool->names() : Result<std::vector<std::string>>(spool.error());
    if (!names) return;
    const std::string place = "/" + std::string(base_name(*recording)) + "/spool/";
    for (const std::string& name : *names) {
      if (!name.ends_with(FATHOM_POOL_SUFFIX)) continue;
      for (const pid_t pid : owners_in(*spool, name)) {
        if (!sampler.knows(pid) && maps(pid, place + name)) sampler.add(pid);
      }
    }
  }

  static std::set<pid_t> owners_in(const Directory& spool, const std::string& name) {
    std::set<pid_t> owners;
    const Result<trace::PoolFile> pool = trace::PoolFile::open(spool, name);
    if (!pool) return owners;
    fathom_segment segment{};
    for (std::uint32_t index = 0; index < pool->count(); index++) {
      if (!pool->read_segment(index, segment)) break;
      const auto pid = static_cast<pid_t>(segment.claim >> 32);
      if (pid > 0) owners.insert(pid);
    }
    return owners;
  }

  static bool maps(pid_t pid, const std::string& file) {
    const Result<std::string> mappings = read_file("/proc/" + std::to_string(pid) + "/maps");
    return mappings && mappings->find(file) != std::string::npos;
  }

  // Of a container: with its first process all others end, and then its control group goes. One
  // process of a group, once: what comes and goes in it does not drive the sampling.
  void watch_first(const Sampler& sampler) {
    if (watches_ == sampler.group()) return;
    const std::set<pid_t> members = sampler.members();
    if (members.empty()) return;
    pause_.watch(*members.begin());
    watches_ = sampler.group();
  }

  SourceContext context_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::int64_t start_ns_ = 0;  // of the recording that rows go to
  CounterRows ready_;          // their times by the monotonic clock
  std::vector<pid_t> joining_;
  std::string group_;
  std::map<std::string, std::string> group_facts_;

  Pause pause_;
  std::string watches_;  // the group whose first process is; of the thread alone
  GpuThread gpus_;
  std::jthread thread_;  // last: it ends before what it uses
};

Availability probe(std::string_view /*layer*/) {
  if (path_exists("/proc/self/stat")) return {};
  return {.available = false,
          .reason = "/proc is not mounted",
          .fix = as_root("mount -t proc proc /proc")};
}

std::unique_ptr<Source> make() { return std::make_unique<ResourcesSource>(); }

}  // namespace

Availability probe_gpus() {
  Availability state;
  const std::optional<GpuSampler> sampler = GpuSampler::open(state.reason);
  state.available = sampler.has_value();
  if (!sampler) return state;
  for (const auto& [fact, value] : sampler->facts()) {
    if (fact != "gpu driver") state.reason += (state.reason.empty() ? "" : ", ") + value;
  }
  return state;
}

extern const SourceDef kResources;
const SourceDef kResources = {
    .name = "resources",
    .layers = kLayers,
    .help =
        "CPU, memory and I/O of the processes, their control group, the machine and its GPUs, "
        "sampled",
    .in_process = false,
    .joins = true,
    .attaches = true,
    .probe = probe,
    .make = make,
};

}  // namespace fathom::sources

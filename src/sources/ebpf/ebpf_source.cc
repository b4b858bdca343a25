// SPDX-License-Identifier: MIT
// The source `ebpf`: what the kernel sees of the programs, counted there. A thread takes the ring
// and the sums and makes rows of them; whoever drains takes those. Where nothing happens it sleeps
// longer and longer: a recorder that wakes up a hundred times a second would be seen in what it
// records.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/privilege.h"
#include "base/text.h"
#include "sources/ebpf/calls.h"
#include "sources/ebpf/function_notes.h"
#include "sources/ebpf/kernel_code.h"
#include "sources/ebpf/probes.h"
#include "sources/ebpf/rows.h"
#include "sources/source.h"

namespace fathom::sources {
namespace {

using std::chrono::milliseconds;

// Between two looks while something comes: the ring must not fill.
constexpr milliseconds kRest{10};
// Where nothing comes; the kernel's half wakes us when its ring fills, or a process begins.
constexpr milliseconds kLongestRest{320};
// A call that ended in an interval is in its sum soon after, and by then for sure.
constexpr std::int64_t kSettledNs = 500'000'000;
constexpr std::uint32_t kEveryInterval = ~std::uint32_t{0};
// Files that were not met for this many ages are forgotten: paths come again with the next call.
constexpr std::uint32_t kAges = 10;
constexpr std::int64_t kLeastAgeNs = 60'000'000'000;

std::optional<fathom_bpf_layer> find_layer(std::string_view name) {
  for (int layer = 0; layer < FATHOM_BPF_LAYERS; ++layer) {
    if (ebpf::name_of_layer(static_cast<fathom_bpf_layer>(layer)) == name)
      return static_cast<fathom_bpf_layer>(layer);
  }
  return std::nullopt;
}

ebpf::ProbeOptions options_of(const SourceContext& context) {
  ebpf::ProbeOptions options;
  for (const std::string& name : context.layers) {
    if (const auto layer = find_layer(name)) options.layers.push_back(*layer);
  }
  for (const std::string& name : context.detail) {
    if (const auto layer = find_layer(name)) options.detail |= 1U << *layer;
  }
  options.start_monotonic_ns = context.start_monotonic_ns;
  options.interval_ns = context.interval_ns;
  options.ring_bytes = context.ring_bytes;
  options.rows = context.rows;
  options.joins = context.joins;
  options.no_command = context.no_command;
  options.user_files = context.user_files;
  options.user_rows = context.user_rows;
  return options;
}

fathom_choice choice_of(const Choice& choice) {
  fathom_choice result{};
  using By = Choice::By;
  switch (choice.by) {
    case By::kNobody:
      result.by = FATHOM_CHOICE_NOBODY;
      break;
    case By::kProcess:
      result.by = FATHOM_CHOICE_PROCESS;
      break;
    case By::kUser:
      result.by = FATHOM_CHOICE_USER;
      break;
    case By::kGroup:
      result.by = FATHOM_CHOICE_GROUP;
      break;
    case By::kAll:
      result.by = FATHOM_CHOICE_ALL;
      break;
  }
  result.process = static_cast<std::uint32_t>(choice.process);
  result.user = choice.user;
  result.hierarchy = choice.hierarchy;
  result.group = choice.group;
  result.recorder = static_cast<std::uint32_t>(::getpid());
  return result;
}

// Before anything is made or loaded: what is wrong with the command line is the first thing to say.
Status check(const SourceContext& context) {
  FATHOM_TRY(ebpf::find_functions(context.functions, context.categories, context.returns));
  FATHOM_TRY(ebpf::read_filters(context.filters, options_of(context).layers));
  return {};
}

// In whole ns: these are measured once, on a machine that does other things, too.
std::string whole(double ns) { return std::to_string(std::llround(ns)); }

// What there is no call for that does nothing.
std::vector<std::string> layers_without_cost(const std::vector<fathom_bpf_layer>& layers) {
  std::vector<std::string> names;
  for (const fathom_bpf_layer layer : layers) {
    if (layer != FATHOM_BPF_SYSCALL && layer != FATHOM_BPF_USER)
      names.emplace_back(ebpf::name_of_layer(layer));
  }
  return names;
}

std::map<std::string, std::string> facts_of(const ebpf::Costs& costs,
                                            const ebpf::ProbeOptions& options) {
  std::map<std::string, std::string> facts;
  facts["kernel.durations"] = "with the cost of probes";
  const std::string unknown = fathom::join(layers_without_cost(options.layers), ", ");
  if (!unknown.empty()) facts["kernel.cost_not_measured"] = unknown;
  if (costs.system_call) {
    facts["kernel.syscall.added_ns"] = whole(costs.system_call->added_ns);
    facts["kernel.syscall.shown_ns"] = whole(costs.system_call->shown_ns);
    facts["kernel.syscall.others_ns"] = whole(costs.system_call->others_ns);
  }
  if (costs.function) {
    constexpr const char* kKinds[ebpf::kSteps] = {"nop5", "emulated", "stepped"};
    for (std::size_t i = 0; i < ebpf::kSteps; ++i)
      facts[std::string("kernel.user.") + kKinds[i] + "_ns"] = whole(costs.function->at(i));
    const std::string dear = ebpf::dear_functions(options.functions, costs);
    if (!dear.empty()) facts["kernel.user.dear"] = dear;
  }
  return facts;
}

// The program that is run, where functions are probed whose times depend on it.
std::vector<fathom_file_key> plain_programs(const SourceContext& context,
                                            const ebpf::Functions& functions) {
  const bool asked = std::ranges::any_of(functions.probed, [](const ebpf::Function& one) {
    return one.times == ebpf::Times::kInPlainPrograms;
  });
  if (!asked || context.program.empty() || !ebpf::is_plain_program(context.program)) return {};
  const Result<fathom_file_key> key = ebpf::key_of_file(context.program);
  return key ? std::vector<fathom_file_key>{*key} : std::vector<fathom_file_key>();
}

// How many have a probe, of those that were named. `refused`: by the kernel, and among the probed.
std::map<std::string, std::string> numbers_of(const ebpf::Functions& functions,
                                              const std::vector<ebpf::Unprobed>& refused) {
  std::map<std::string, std::string> facts;
  for (const fathom_bpf_layer layer : {FATHOM_BPF_USER, FATHOM_BPF_KERNEL}) {
    const bool of_kernel = layer == FATHOM_BPF_KERNEL;
    const auto count = [&](const std::vector<ebpf::Unprobed>& all) {
      return std::ranges::count(all, of_kernel, &ebpf::Unprobed::of_kernel);
    };
    const auto found = std::ranges::count_if(
        functions.probed, [&](const auto& one) { return one.is_of_kernel() == of_kernel; });
    const auto without = count(functions.unprobed);
    if (found + without > 0)
      facts["kernel." + std::string(ebpf::name_of_layer(layer)) + ".probes"] =
          std::to_string(found - count(refused)) + " attached, " + std::to_string(without) + " not";
  }
  return facts;
}

class EbpfSource final : public Source {
 public:
  Status prepare(const SourceContext& context) override {
    options_ = options_of(context);
    FATHOM_ASSIGN(functions_,
                  ebpf::find_functions(context.functions, context.categories, context.returns));
    options_.functions = functions_.probed;
    options_.plain_programs = plain_programs(context, functions_);
    FATHOM_ASSIGN(options_.filters, ebpf::read_filters(context.filters, options_.layers));
    FATHOM_ASSIGN(probes_, ebpf::Probes::load(options_));
    const std::vector<ebpf::Unprobed>& refused = probes_->unprobed();
    functions_.unprobed.insert(functions_.unprobed.end(), refused.begin(), refused.end());
    facts_ = facts_of(probes_->measure(), options_);
    facts_.merge(probes_->hooks());
    facts_.merge(numbers_of(functions_, refused));
    if (!context.filters.empty()) facts_["kernel.filter"] = fathom::join(context.filters, ", ");
    maker_.emplace(options_);
    maker_->add_losses(ebpf::losses_of(functions_.unprobed));
    return {};
  }

  [[nodiscard]] std::map<std::string, std::string> facts() const override { return facts_; }

  [[nodiscard]] std::map<std::string, std::string> lacks() const override {
    std::map<std::string, std::string> lacks;
    for (const fathom_bpf_layer layer : {FATHOM_BPF_USER, FATHOM_BPF_KERNEL}) {
      const std::string lack = ebpf::lack_of(functions_, layer, probes_->knows_programs());
      if (!lack.empty()) lacks[std::string(ebpf::name_of_layer(layer))] = lack;
    }
    return lacks;
  }

  Status adopt(pid_t process) override { return probes_->adopt(process); }

  Status start(const SourceContext& /*context*/) override {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    return {};
  }

  Status join(const Choice& choice) override {
    const fathom_choice wanted = choice_of(choice);
    // Those that begin later first: a program that begins while tasks are walked through is met by
    // either.
    const bool stands = choice.by == Choice::By::kUser || choice.by == Choice::By::kGroup;
    if (stands) FATHOM_TRY(probes_->stand(wanted));
    FATHOM_TRY(probes_->walk(wanted));
    const std::scoped_lock lock(mutex_);
    take(settled_interval());  // who waits for us can still be asked for its command
    return {};
  }

  Status leave(pid_t process) override {
    fathom_choice wanted = choice_of({.by = Choice::By::kProcess, .process = process});
    wanted.leaves = 1;
    FATHOM_TRY(probes_->walk(wanted));
    const std::scoped_lock lock(mutex_);
    take(settled_interval());
    maker_->forget(process);
    return {};
  }

  std::vector<Followed> followed() override {
    const std::scoped_lock lock(mutex_);
    take(settled_interval());
    return maker_->alive();
  }

  std::int64_t turn(trace::Strings& strings, trace::HostRows& last) override {
    const std::scoped_lock lock(mutex_);
    take(settled_interval());
    const std::int64_t shift = std::int64_t{taken_before_} * options_.interval_ns;
    maker_->begin_anew(shift, strings, last);
    return options_.start_monotonic_ns + shift;
  }

  bool outlived() override {
    const std::scoped_lock lock(mutex_);
    take(settled_interval());
    return maker_->anybody_lives();
  }

  void pause() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void stop() override {
    pause();
    probes_->detach();
    const std::scoped_lock lock(mutex_);
    take(kEveryInterval);
    maker_->finish();
  }

  void drain(trace::Strings& strings, trace::HostRows& rows) override {
    const std::scoped_lock lock(mutex_);
    maker_->take(strings, rows, now_monotonic_ns());
  }

 private:
  void work(const std::stop_token& stop) {
    const Fd ending(::eventfd(0, EFD_CLOEXEC));
    const std::stop_callback end(stop, [&] { ::eventfd_write(ending.get(), 1); });
    milliseconds rest = kRest;
    while (!stop.stop_requested()) {
      bool any = false;
      {
        const std::scoped_lock lock(mutex_);
        any = take(settled_interval());
        age_files();
      }
      rest = any ? kRest : std::min(rest * 2, kLongestRest);
      // Its ring looks ready as soon as there is anything: where there was, more comes meanwhile.
      pollfd waiting[] = {{ending.get(), POLLIN, 0}, {probes_->records_fd(), POLLIN, 0}};
      ::poll(waiting, any ? 1 : 2, static_cast<int>(rest.count()));
    }
  }

  [[nodiscard]] std::uint32_t settled_interval() const {
    const std::int64_t settled = now_monotonic_ns() - options_.start_monotonic_ns - kSettledNs;
    return settled <= 0 ? 0 : static_cast<std::uint32_t>(settled / options_.interval_ns);
  }

  // Sums first: the paths of their files left before them. Whether there was anything.
  bool take(std::uint32_t before_interval) {
    bool any = false;
    if (before_interval > taken_before_) {
      const std::vector<ebpf::SumOfCalls> sums = probes_->take_sums(before_interval);
      any = !sums.empty();
      maker_->add(sums);
      maker_->add_losses(probes_->losses());
      taken_before_ = before_interval;
    }
    probes_->take_records([&](std::span<const std::byte> record) {
      any = true;
      maker_->add(record);
    });
    return any;
  }

  // A recorder that lives for weeks meets more files than there is room for.
  void age_files() {
    const std::int64_t now = now_monotonic_ns();
    const std::int64_t age = std::max(kLeastAgeNs, 2 * options_.interval_ns);
    if (now - aged_ns_ < age) return;
    if (aged_ns_ != 0) maker_->forget_files(probes_->age_files(kAges));
    aged_ns_ = now;
  }

  ebpf::ProbeOptions options_;
  ebpf::Functions functions_;  // of layer user
  std::map<std::string, std::string> facts_;
  std::optional<ebpf::Probes> probes_;
  std::mutex mutex_;
  std::optional<ebpf::RowMaker> maker_;  // guarded by mutex_
  std::uint32_t taken_before_ = 0;       // guarded by mutex_
  std::int64_t aged_ns_ = 0;             // guarded by mutex_
  std::jthread thread_;                  // last: it ends before what it uses
};

// A line to type only where it would help: root is root already, and what the kernel has not got
// nobody gets.
Availability without_privilege(fathom_bpf_layer layer) {
  const std::string lacks = layer == FATHOM_BPF_VFS ? ebpf::why_no_functions() : std::string();
  if (!lacks.empty())
    return {.available = false,
            .reason = "this kernel takes no programs at its functions: " + lacks,
            .fix = ""};
  constexpr char kNeeds[] = "recording in the kernel needs CAP_BPF and CAP_PERFMON";
  if (::geteuid() == 0)
    return {.available = false,
            .reason = std::string(kNeeds) + ", which root has not got here",
            .fix = ""};
  const std::string name(ebpf::name_of_layer(layer));
  return {.available = false,
          .reason = kNeeds,
          .fix = as_root("fathom run --layers " + name + " -- …")};
}

Availability probe(std::string_view name) {
  using Outcome = ebpf::Trial::Outcome;
  const std::optional<fathom_bpf_layer> layer = find_layer(name);
  if (!layer) return {.available = false, .reason = "no layer of the kernel", .fix = ""};
  const ebpf::Trial trial = ebpf::try_layer(*layer);
  if (trial.needs_privilege) return without_privilege(*layer);
  return {.available = trial.outcome == Outcome::kWhole || trial.outcome == Outcome::kPart,
          .reason = trial.reason,
          .fix = "",
          .others_go_on = trial.outcome == Outcome::kMissing};
}

std::unique_ptr<Source> make() { return std::make_unique<EbpfSource>(); }

}  // namespace

void expect_ebpf(std::span<const std::string_view> layers);
void expect_ebpf(std::span<const std::string_view> names) {
  std::vector<fathom_bpf_layer> layers;
  for (const std::string_view name : names) {
    if (const auto layer = find_layer(name)) layers.push_back(*layer);
  }
  ebpf::begin_trials(layers);
}

extern const SourceDef kEbpf;
const SourceDef kEbpf = {
    .name = "ebpf",
    .layers = ebpf::kLayerNames,
    .help = "what the kernel does for the programs, counted there by call, thread and file",
    .in_process = false,
    .in_detail = true,
    .joins = true,
    .check = check,
    .probe = probe,
    .make = make,
};

}  // namespace fathom::sources

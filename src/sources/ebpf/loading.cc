// SPDX-License-Identifier: MIT
// The first half of the wrapper of libbpf: choosing programs for this kernel, loading, sharing
// maps. Messages of libbpf and of the verifier are kept and shortened to one line.
#include "sources/ebpf/loading.h"

#include <bpf/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "sources/ebpf/calls.h"
#include "sources/ebpf/kernel_types.h"
#include "sources/ebpf/small_types.h"
#include "sources/ebpf/uprobes.h"

namespace fathom::sources::ebpf {
namespace {

// libbpf's own words, kept for the message that tells what went wrong.
struct Words {
  std::string first;     // line of warning
  std::string verifier;  // the end of its log
};
Words& last_words() {
  thread_local Words words;
  return words;
}

std::string print(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

int keep_words(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  const std::string text = print(format, arguments);
  if (text.find("PROG LOAD LOG") != std::string::npos) last_words().verifier = end_of_log(text);
  if (last_words().first.empty()) last_words().first = text.substr(0, text.find('\n'));
  return 0;
}

// Without it the kernel says EACCES of programs that it would take from others.
bool may_load() {
  constexpr std::uint64_t kSysAdmin = 1ULL << 21;
  constexpr std::uint64_t kBpf = 1ULL << 39;
  __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &head, data) != 0) return false;
  const std::uint64_t all = data[0].effective | std::uint64_t{data[1].effective} << 32U;
  return (all & (kSysAdmin | kBpf)) != 0;
}

Status resize(bpf_object* object, const char* name, std::uint32_t entries) {
  bpf_map* map = bpf_object__find_map_by_name(object, name);
  const int failed = entries == 0 ? 0 : bpf_map__set_max_entries(map, entries);
  return failed == 0 ? Status() : Status(refused(-failed));
}

Status share_maps(bpf_object* object, const Loaded& first) {
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) {
    if (bpf_map__is_internal(map)) continue;
    const int shared = first.map(bpf_map__name(map));
    if (shared < 0) continue;  // its own
    if (const int failed = bpf_map__reuse_fd(map, shared); failed != 0) return refused(-failed);
  }
  return {};
}

// The name of a tracepoint; "" for other kinds of hooks.
std::string_view tracepoint_of(const bpf_program* program) {
  const std::string_view section = bpf_program__section_name(program);
  for (const std::string_view kind : {"tp_btf/", "raw_tp/"})
    if (section.starts_with(kind)) return section.substr(kind.size());
  return "";
}

// The kernel's own one that a program stands at; "" for other kinds of hooks.
std::string_view function_of(const bpf_program* program) {
  const std::string_view section = bpf_program__section_name(program);
  for (const std::string_view kind : {"fentry/", "fexit/", "kprobe/", "kretprobe/"})
    if (section.starts_with(kind)) return section.substr(kind.size());
  return "";
}

bool suits(const bpf_program* program, std::string_view hook) {
  const std::string_view name = bpf_program__name(program);
  const auto is_of_it = [&](const Variant& one) { return one.program == name; };
  const auto fits = [&](const Variant& one) {
    return is_of_it(one) && one.arguments == arguments_of(hook);
  };
  return std::ranges::none_of(kVariants, is_of_it) || std::ranges::any_of(kVariants, fits);
}

bool is_superfluous(std::string_view hook) {
  return std::ranges::any_of(kSubstitutes, [&](const Substitute& one) {
    return one.hook == hook && has_tracepoint(one.better);
  });
}

bool is_substitute(std::string_view hook) {
  return std::ranges::any_of(kSubstitutes, [&](const Substitute& one) { return one.hook == hook; });
}

bool has_substitute(std::string_view hook) {
  return std::ranges::any_of(kSubstitutes, [&](const Substitute& one) {
    return one.better == hook && has_tracepoint(one.hook);
  });
}

// Perhaps there: before Linux 5.11 nothing is told of the types of modules, and raw tracepoints
// need none.
bool is_untold(Flavor flavor, std::string_view hook) {
  const bool is_of_module = hook.starts_with("ext4_") || hook.starts_with("jbd2_");
  return flavor == Flavor::kPlain && is_of_module && !has_tracepoint(hook);
}

Error no_tracepoint(const Loaded& loaded) {
  if (loaded.absent.empty())
    return {Code::kUnsupported, "this kernel's tracepoints have other fields", ""};
  return {Code::kUnsupported, "this kernel has no tracepoint " + join(loaded.absent, " or "), ""};
}

// Leaves out a program at a function that there is not: the compiler may have made it part of
// others.
bool has_no_place(Loaded& loaded, const bpf_program* program) {
  const std::string name(function_of(program));
  if (name.empty() || has_function(name)) return false;
  // (Before Linux 5.12 do_splice_direct did its work.)
  if (name != "splice_file_to_pipe" &&
      std::ranges::find(loaded.absent, name) == loaded.absent.end())
    loaded.absent.push_back(name);
  return true;
}

// Leaves out programs for tracepoints that there are not, or that others stand for; an error where
// that is all of them.
Status choose_programs(Loaded& loaded) {
  bool any = false;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded.object.get()) {
    const std::string_view hook = tracepoint_of(program);
    if (has_no_place(loaded, program)) {
      bpf_program__set_autoload(program, false);
      continue;
    }
    const bool is_there = hook.empty() || has_tracepoint(hook) || is_untold(loaded.flavor, hook);
    const bool is_used = is_there && !is_superfluous(hook) && suits(program, hook);
    if (!is_used) bpf_program__set_autoload(program, false);
    if (!is_there && !has_substitute(hook) && !is_substitute(hook))
      loaded.absent.emplace_back(hook);
    any |= is_used;
  }
  return any ? Status() : Status(no_tracepoint(loaded));
}

// Where the kernel counts faults, which is when they have ended: on every CPU, of every kind. Those
// whose end is not told are moments.
void attach_to_faults(Loaded& loaded, bpf_program* program) {
  std::vector<Link> links;
  const int cpus = libbpf_num_possible_cpus();
  for (int at = 0; at < 2 * std::max(cpus, 1); ++at) {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_SOFTWARE;
    wanted.config = at % 2 == 0 ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN;
    wanted.sample_period = 1;
    Fd event(static_cast<int>(::syscall(SYS_perf_event_open, &wanted, -1, at / 2, -1,
                                        static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC))));
    if (!event.valid() && errno == ENODEV) continue;  // a CPU that is not there
    bpf_link* link = event.valid() ? bpf_program__attach_perf_event(program, event.get()) : nullptr;
    if (link == nullptr) {
      loaded.absent.emplace_back("how long faults take");
      return;
    }
    (void)event.release();  // the link has it
    links.emplace_back(link);
  }
  loaded.ends_faults = true;
  std::ranges::move(links, std::back_inserter(loaded.links));
}

// Those of modules are found now, where types tell nothing of them.
Status attach(Loaded& loaded) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded.object.get()) {
    if (!bpf_program__autoload(program)) continue;
    if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT) {
      attach_to_faults(loaded, program);
      continue;
    }
    bpf_link* link = bpf_program__attach(program);
    if (link == nullptr && errno == ENOENT && is_untold(loaded.flavor, tracepoint_of(program))) {
      loaded.absent.emplace_back(tracepoint_of(program));
      continue;
    }
    if (link == nullptr) return refused(errno);
    loaded.links.emplace_back(link);
    if (std::string_view(bpf_program__section_name(program)) == "iter/task")
      loaded.iterator = bpf_link__fd(link);
  }
  return loaded.links.empty() ? Status(no_tracepoint(loaded)) : Status();
}

bpf_map* map_of_settings(Loaded& loaded) {
  return bpf_object__find_map_by_name(loaded.object.get(), ".data");
}

// Our copy of them; nothing where there are none.
fathom_bpf_settings* settings_in(bpf_map* map) {
  std::size_t size = 0;
  void* memory = map != nullptr ? const_cast<void*>(bpf_map__initial_value(map, &size)) : nullptr;
  return size < sizeof(fathom_bpf_settings) ? nullptr : static_cast<fathom_bpf_settings*>(memory);
}

// Where a daemon records many, none of them has it all.
void share_room(const Loaded& loaded, const ProbeOptions& options, fathom_bpf_settings& settings) {
  constexpr std::uint32_t kFiles = 8192;
  constexpr std::uint32_t kRows = 16;     // the part of the room
  constexpr std::uint32_t kMostRows = 4;  // times those with a file
  constexpr std::int64_t kShortest = 1'000'000'000;
  const auto room = [&](const char* name) {
    const bpf_map* map = bpf_object__find_map_by_name(loaded.object.get(), name);
    return options.joins && map != nullptr ? bpf_map__max_entries(map) : 0U;
  };
  settings.user_files = std::min(room("files"), kFiles);
  settings.user_rows = room("sums") / kRows;
  if (options.joins && options.user_files != 0) settings.user_files = options.user_files;
  if (options.joins && options.user_rows != 0) settings.user_rows = options.user_rows;
  settings.user_most = settings.user_rows * kMostRows;
  settings.window_ns = static_cast<std::uint64_t>(std::max(options.interval_ns, kShortest));
}

std::uint32_t ring_bytes(const Loaded& loaded) {
  const bpf_map* ring = bpf_object__find_map_by_name(loaded.object.get(), "ring");
  return ring == nullptr ? 0 : bpf_map__max_entries(ring);
}

Status put(bpf_map* map, const fathom_bpf_settings* settings) {
  const int zero = 0;
  if (bpf_map_update_elem(bpf_map__fd(map), &zero, settings, BPF_ANY) != 0) return refused(errno);
  return {};
}

}  // namespace

std::string end_of_log(std::string_view log) {
  constexpr std::size_t kLines = 3;
  std::vector<std::string> lines;
  for (const std::string_view line : split(log, '\n')) {
    const std::string_view words = trim(line);
    // What the program says of its lines begins with ';', what libbpf adds with its name.
    const bool tells = !words.empty() && !words.starts_with(';') && !words.starts_with("libbpf:") &&
                       !words.starts_with("processed ") && !words.starts_with("--");
    if (tells) lines.emplace_back(words);
  }
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return join(lines, " | ");
}

Error refused(int number) {
  const Words& words = last_words();
  if (number == EPERM || (number == EACCES && !may_load()))
    return {Code::kDenied, "the kernel refused it: " + std::string(std::strerror(number)), ""};
  if (!words.verifier.empty())
    return {Code::kUnsupported, "the kernel's verifier refused it: " + words.verifier, ""};
  std::string message = "the kernel refused it: " + std::string(std::strerror(number));
  if (!words.first.empty()) message += " (" + words.first + ")";
  return {Code::kUnsupported, message, ""};
}

Status set_up(Loaded& loaded, const ProbeOptions& options) {
  bpf_map* map = map_of_settings(loaded);
  fathom_bpf_settings* settings = settings_in(map);
  if (settings == nullptr)
    return Error{Code::kUnsupported, "the eBPF object has no settings map (internal error)", ""};
  settings->start_ns = static_cast<std::uint64_t>(options.start_monotonic_ns);
  settings->interval_ns = static_cast<std::uint64_t>(options.interval_ns);
  settings->detail = options.detail;
  settings->page_size = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  settings->filtered = options.filters.filtered;
  settings->by_path = options.filters.by_path ? 1 : 0;
  settings->cgroup = options.filters.cgroup;
  settings->faults_end = loaded.ends_faults ? 1 : 0;
  settings->begins_when_issued = has_tracepoint("block_io_start") ? 0 : 1;
  settings->reads_by_call = has_tracepoint("mm_filemap_get_pages") ? 0 : 1;
  settings->wake_bytes = ring_bytes(loaded) / 4;
  share_room(loaded, options, *settings);
  for (int layer = 0; layer < FATHOM_BPF_LAYERS; ++layer)
    settings->filters[layer] = options.filters.of_layers[static_cast<std::size_t>(layer)];
  std::ranges::copy(kinds_of_system_calls(), settings->call_kinds);
  return put(map, settings);
}

Status set_age(Loaded& loaded, std::uint32_t age) {
  bpf_map* map = map_of_settings(loaded);
  fathom_bpf_settings* settings = settings_in(map);
  if (settings == nullptr) return {};
  settings->age = age;
  return put(map, settings);
}

namespace {

// With the few types that it needs, where these can be had; else libbpf looks through all of them
// for each.
std::unique_ptr<bpf_object, CloseObject> open_object(const Programs& code, const Fd& types) {
  const std::string path = "/proc/self/fd/" + std::to_string(types.get());
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  if (types.valid() && path_exists(path)) options.btf_custom_path = path.c_str();
  return {bpf_object__open_mem(code.begin, code.size(), &options), CloseObject()};
}

Result<Loaded> load_code(const Module& module, const Room& room, const Loaded* first,
                         Flavor flavor) {
  const Programs& code = module.code(flavor);
  FATHOM_TRY(read_kernel_types());
  libbpf_set_print(keep_words);
  last_words() = {};
  Loaded loaded;
  loaded.module = &module;
  loaded.flavor = flavor;
  const Fd types = small_types(code);  // until it is loaded
  loaded.object = open_object(code, types);
  if (!loaded.object) return refused(errno);
  if (first == nullptr) {
    FATHOM_TRY(resize(loaded.object.get(), "ring", room.ring_bytes));
    FATHOM_TRY(resize(loaded.object.get(), "sums", room.rows));
  } else {
    FATHOM_TRY(share_maps(loaded.object.get(), *first));
  }
  FATHOM_TRY(choose_programs(loaded));
  mark_programs(loaded.object.get(), module.uprobes);
  if (const int failed = bpf_object__load(loaded.object.get()); failed != 0)
    return refused(-failed);
  if (module.uprobes == Uprobes::kNone) FATHOM_TRY(attach(loaded));
  return loaded;
}

// Left out, so that what stands in for it can be tried.
bool is_left_out(std::string_view what) {
  const char* all = std::getenv("FATHOM_KERNEL_WITHOUT");  // NOLINT(concurrency-mt-unsafe)
  const std::vector<std::string_view> words = split(all == nullptr ? "" : all, ',');
  return !what.empty() && std::ranges::find(words, what) != words.end();
}

Error left_out(std::string_view what) {
  return {Code::kUnsupported, "FATHOM_KERNEL_WITHOUT leaves out " + std::string(what), ""};
}

// Where hashes allocate in any context there is all the rest, too.
Result<Loaded> load_typed(const Room& room) {
  if (is_left_out("typed")) return left_out("typed");
  FATHOM_TRY(read_kernel_types());
  if (!has_structure("bpf_mem_alloc"))
    return Error{Code::kUnsupported, "this kernel's hash maps cannot allocate in every context",
                 ""};
  return load_code(kModules[0], room, nullptr, Flavor::kTyped);
}

// The number of a task is the kernel's own only where no namespace has others.
Status check_namespace() {
  constexpr ino_t kOfTheMachine = 0xEFFFFFFC;
  struct stat facts {};
  if (::stat("/proc/self/ns/pid", &facts) == 0 && facts.st_ino == kOfTheMachine) return {};
  return Error{Code::kUnsupported, "this kernel is too old to record from inside a container",
               "run fathom outside of the container"};
}

}  // namespace

Result<Loaded> load_first(const Room& room) {
  Result<Loaded> typed = load_typed(room);
  if (typed || typed.error().code == Code::kDenied) return typed;
  FATHOM_TRY(check_namespace());
  Result<Loaded> plain = load_code(kModules[0], room, nullptr, Flavor::kPlain);
  return plain;
}

Result<Loaded> load_module(const Module& module, const Loaded& first) {
  if (module.code(first.flavor).size() == 0)
    return Error{Code::kUnsupported, "this kernel is too old for " + std::string(module.what), ""};
  if (is_left_out(module.needs)) return left_out(module.needs);
  return load_code(module, {}, &first, first.flavor);
}

Status follow(const Loaded& first, pid_t process, bool at_once) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!pidfd.valid()) return os_error(errno, "open process " + std::to_string(process));
  fathom_task state{};
  state.on = at_once ? 1 : 0;
  const int key = first.flavor == Flavor::kPlain ? process : pidfd.get();
  if (bpf_map_update_elem(first.map("tasks"), &key, &state, BPF_ANY) != 0)
    return os_error(errno, "follow process " + std::to_string(process));
  return {};
}

void unfollow(const Loaded& first, pid_t process) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  const int key = first.flavor == Flavor::kPlain ? process : pidfd.get();
  bpf_map_delete_elem(first.map("tasks"), &key);
}

}  // namespace fathom::sources::ebpf

// SPDX-License-Identifier: MIT
#include "sources/ebpf/loading.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "sources/ebpf/calls.h"
#include "sources/ebpf/uprobes.h"

namespace fathom::sources::ebpf {
namespace {

constexpr char kKernelTypes[] = "/sys/kernel/btf/vmlinux";

// libbpf's own words, kept for the message that tells what went wrong.
struct Words {
  std::string first;     // line of warning
  std::string verifier;  // the end of its log
};
Words& last_words() {
  static Words words;
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

struct FreeTypes {
  void operator()(btf* types) const { btf__free(types); }
};

// BTF of the kernel: read once, for all modules.
const btf* kernel_types() {
  static const std::unique_ptr<btf, FreeTypes> types(btf__load_vmlinux_btf());
  return types.get();
}

bool has_tracepoint(const std::string& name) {
  return btf__find_by_name_kind(kernel_types(), ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF) >=
         0;
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

// A hook's name, where the kernel knows it by its types; "" for other kinds.
std::string_view tracepoint_of(const bpf_program* program) {
  constexpr std::string_view kTracepoint = "tp_btf/";
  const std::string_view section = bpf_program__section_name(program);
  return section.starts_with(kTracepoint) ? section.substr(kTracepoint.size()) : "";
}

// How many arguments a tracepoint has; -1 where there is none of this name.
int arguments_of(const std::string& hook) {
  const int found =
      btf__find_by_name_kind(kernel_types(), ("btf_trace_" + hook).c_str(), BTF_KIND_TYPEDEF);
  const btf_type* type =
      found < 0 ? nullptr : btf__type_by_id(kernel_types(), static_cast<std::uint32_t>(found));
  for (int i = 0; i < 2 && type != nullptr; ++i)  // a name of a pointer to a function
    type = btf__type_by_id(kernel_types(), type->type);
  return type == nullptr || !btf_is_func_proto(type) ? -1 : btf_vlen(type) - 1;  // one is ours
}

bool suits(const bpf_program* program, std::string_view hook) {
  const std::string_view name = bpf_program__name(program);
  const auto* const found = std::ranges::find(kVariants, name, &Variant::program);
  return found == std::end(kVariants) || found->arguments == arguments_of(std::string(hook));
}

bool is_superfluous(std::string_view hook) {
  return std::ranges::any_of(kSubstitutes, [&](const Substitute& one) {
    return one.hook == hook && has_tracepoint(std::string(one.better));
  });
}

bool is_substitute(std::string_view hook) {
  return std::ranges::any_of(kSubstitutes, [&](const Substitute& one) { return one.hook == hook; });
}

bool has_substitute(std::string_view hook) {
  return std::ranges::any_of(kSubstitutes, [&](const Substitute& one) {
    return one.better == hook && has_tracepoint(std::string(one.hook));
  });
}

// Leaves out programs for tracepoints that there are not, or that others stand for; an error where
// that is all of them.
Status choose_programs(Loaded& loaded) {
  bool any = false;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded.object.get()) {
    const std::string_view hook = tracepoint_of(program);
    const bool is_there = hook.empty() || has_tracepoint(std::string(hook));
    const bool is_used = is_there && !is_superfluous(hook) && suits(program, hook);
    if (!is_used) bpf_program__set_autoload(program, false);
    if (!is_there && !has_substitute(hook) && !is_substitute(hook))
      loaded.absent.emplace_back(hook);
    any |= is_used;
  }
  if (any) return {};
  return Error{Code::kUnsupported, "this kernel has no tracepoint " + join(loaded.absent, " or "),
               ""};
}

Status attach(Loaded& loaded) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded.object.get()) {
    if (!bpf_program__autoload(program)) continue;
    bpf_link* link = bpf_program__attach(program);
    if (link == nullptr) return refused(errno);
    loaded.links.emplace_back(link);
    if (std::string_view(bpf_program__section_name(program)) == "iter/task")
      loaded.iterator = bpf_link__fd(link);
  }
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
  bpf_map* map = bpf_object__find_map_by_name(loaded.object.get(), ".data");
  std::size_t size = 0;
  void* memory = map != nullptr ? const_cast<void*>(bpf_map__initial_value(map, &size)) : nullptr;
  if (memory == nullptr || size < sizeof(fathom_bpf_settings))
    return Error{Code::kUnsupported, "our programs have no settings", ""};
  auto* settings = static_cast<fathom_bpf_settings*>(memory);
  settings->start_ns = static_cast<std::uint64_t>(options.start_monotonic_ns);
  settings->interval_ns = static_cast<std::uint64_t>(options.interval_ns);
  settings->detail = options.detail;
  settings->page_size = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  settings->filtered = options.filters.filtered;
  settings->by_path = options.filters.by_path ? 1 : 0;
  settings->cgroup = options.filters.cgroup;
  for (int layer = 0; layer < FATHOM_BPF_LAYERS; ++layer)
    settings->filters[layer] = options.filters.of_layers[static_cast<std::size_t>(layer)];
  for (std::uint32_t number = 0; number < FATHOM_BPF_CALLS; ++number)
    settings->call_kinds[number] = kind_of_system_call(number);
  const int zero = 0;
  if (bpf_map_update_elem(bpf_map__fd(map), &zero, memory, BPF_ANY) != 0) return refused(errno);
  return {};
}

Result<Loaded> load_module(const Module& module, const Room& room, const Loaded* first) {
  if (!path_exists(kKernelTypes) || kernel_types() == nullptr)
    return Error{Code::kUnsupported,
                 std::string("this kernel does not tell its types (") + kKernelTypes + ")", ""};
  libbpf_set_print(keep_words);
  last_words() = {};
  Loaded loaded;
  loaded.module = &module;
  loaded.object.reset(bpf_object__open_mem(module.begin, module.size(), nullptr));
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

}  // namespace fathom::sources::ebpf

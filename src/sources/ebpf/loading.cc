// SPDX-License-Identifier: MIT
#include "sources/ebpf/loading.h"

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "sources/ebpf/calls.h"

namespace fathom::sources::ebpf {
namespace {

constexpr char kKernelTypes[] = "/sys/kernel/btf/vmlinux";

// libbpf's own words, kept for the message that tells what went wrong.
std::string& last_words() {
  static std::string words;
  return words;
}
int keep_words(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !last_words().empty()) return 0;
  char line[256];
  std::vsnprintf(line, sizeof line, format, arguments);
  last_words() = line;
  if (const std::size_t end = last_words().find('\n'); end != std::string::npos)
    last_words().resize(end);
  return 0;
}

Error refused(int number) {
  const bool denied = number == EPERM || number == EACCES;
  std::string message = "the kernel refused it: " + std::string(std::strerror(number));
  if (!denied && !last_words().empty()) message += " (" + last_words() + ")";
  return {denied ? Code::kDenied : Code::kUnsupported, message, ""};
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

Status set(bpf_object* object, const ProbeOptions& options) {
  bpf_map* map = bpf_object__find_map_by_name(object, ".rodata");
  std::size_t size = 0;
  void* memory = map != nullptr ? const_cast<void*>(bpf_map__initial_value(map, &size)) : nullptr;
  if (memory == nullptr || size < sizeof(fathom_bpf_settings))
    return Error{Code::kUnsupported, "our programs have no settings", ""};
  auto* settings = static_cast<fathom_bpf_settings*>(memory);
  settings->start_ns = static_cast<std::uint64_t>(options.start_monotonic_ns);
  settings->interval_ns = static_cast<std::uint64_t>(options.interval_ns);
  settings->detail = options.detail;
  settings->page_size = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  for (std::uint32_t number = 0; number < FATHOM_BPF_CALLS; ++number)
    settings->call_kinds[number] = kind_of_system_call(number);
  return {};
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
    if (const int failed = shared < 0 ? -ENOENT : bpf_map__reuse_fd(map, shared); failed != 0)
      return refused(-failed);
  }
  return {};
}

// Leaves out programs for tracepoints that there are not; an error where that is all of them.
Status choose_programs(Loaded& loaded) {
  constexpr std::string_view kTracepoint = "tp_btf/";
  bool any = false;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded.object.get()) {
    const std::string_view section = bpf_program__section_name(program);
    const bool is_there = !section.starts_with(kTracepoint) ||
                          has_tracepoint(std::string(section.substr(kTracepoint.size())));
    if (!is_there) {
      bpf_program__set_autoload(program, false);
      loaded.absent.emplace_back(section.substr(kTracepoint.size()));
    }
    any |= is_there;
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
  }
  return {};
}

// What libbpf 1.1 does not know yet of the kernel's interface (since Linux 6.6; sessions
// since 6.13).
constexpr auto kUprobeSession = static_cast<bpf_attach_type>(57);
struct UprobeLink {
  std::uint32_t program, target, attach_type, flags;
  std::uint64_t path, offsets, semaphores, cookies;
  std::uint32_t count, options;
  std::int32_t pid;
  std::uint32_t unused;
};

void make_session(bpf_object* object) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object)
      bpf_program__set_expected_attach_type(program, kUprobeSession);
}

template <class T>
std::uint64_t address_of(const T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// All functions of one file by one link.
Result<Fd> attach_file(int program, const std::string& path, const std::vector<Function>& all) {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> semaphores;
  std::vector<std::uint64_t> cookies;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].file != path) continue;
    offsets.push_back(all[i].offset);
    semaphores.push_back(all[i].semaphore);
    cookies.push_back(i | (all[i].is_point ? FATHOM_BPF_POINT : 0U));
  }
  UprobeLink link{};
  link.program = static_cast<std::uint32_t>(program);
  link.attach_type = kUprobeSession;
  link.path = address_of(path.c_str());
  link.offsets = address_of(offsets.data());
  link.semaphores = address_of(semaphores.data());
  link.cookies = address_of(cookies.data());
  link.count = static_cast<std::uint32_t>(offsets.size());
  Fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
  if (!fd.valid()) return refused(errno);
  return fd;
}

Status attach_functions(Loaded& loaded, const std::vector<Function>& functions) {
  const int program = bpf_program__fd(bpf_object__next_program(loaded.object.get(), nullptr));
  std::set<std::string> files;
  for (const Function& function : functions) files.insert(function.file);
  for (const std::string& file : files) {
    FATHOM_ASSIGN(Fd link, attach_file(program, file, functions));
    loaded.uprobes.push_back(std::move(link));
  }
  return {};
}

}  // namespace

Result<Loaded> load_module(const Module& module, const ProbeOptions& options, const Loaded* first) {
  if (!path_exists(kKernelTypes) || kernel_types() == nullptr)
    return Error{Code::kUnsupported,
                 std::string("this kernel does not tell its types (") + kKernelTypes + ")", ""};
  libbpf_set_print(keep_words);
  last_words().clear();
  Loaded loaded;
  loaded.object.reset(bpf_object__open_mem(module.begin, module.size(), nullptr));
  if (!loaded.object) return refused(errno);
  FATHOM_TRY(set(loaded.object.get(), options));
  FATHOM_TRY(resize(loaded.object.get(), "ring", options.ring_bytes));
  FATHOM_TRY(resize(loaded.object.get(), "sums", options.rows));
  if (first != nullptr) FATHOM_TRY(share_maps(loaded.object.get(), *first));
  FATHOM_TRY(choose_programs(loaded));
  const bool is_user = module.layer == FATHOM_BPF_USER;
  if (is_user) make_session(loaded.object.get());
  if (const int failed = bpf_object__load(loaded.object.get()); failed != 0)
    return refused(-failed);
  FATHOM_TRY(is_user ? attach_functions(loaded, options.functions) : attach(loaded));
  return loaded;
}

}  // namespace fathom::sources::ebpf

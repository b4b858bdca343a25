// SPDX-License-Identifier: MIT
// Functions are those of /proc/kallsyms, tracepoints those of the kernel's types: neither needs
// tracefs, which many machines do not mount.
#include "sources/ebpf/kernel_code.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "sources/ebpf/kernel_types.h"
#include "sources/ebpf/wanted.h"

namespace fathom::sources::ebpf {
namespace {

constexpr char kSymbols[] = "/proc/kallsyms";
constexpr char kLockdown[] = "/sys/kernel/security/lockdown";
// There since perf can make kprobes.
constexpr char kKprobes[] = "/sys/bus/event_source/devices/kprobe";
// Marks that compilers leave beside functions, parts of them, and jumps.
constexpr std::string_view kNoFunctions[] = {
    "__pfx_", "__cfi_", "__SCT__", "__SCK__", "__ksymtab_", "__kcfi_typeid_", "__bpf_trace_"};
// Our own programs, and what they call: a probe there would meet itself.
constexpr std::string_view kOurs[] = {"bpf_",       "__bpf_",           "htab_",
                                      "__htab_",    "___bpf_prog",      "trace_call_bpf",
                                      "array_map_", "percpu_array_map_"};
constexpr std::string_view kSystemCalls[] = {"sys_enter_", "sys_exit_"};

bool starts_with_any(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); });
}

bool is_function(std::string_view name, char kind) {
  return std::string_view("tTwW").find(kind) != std::string_view::npos &&
         !name.ends_with(".cold") && !starts_with_any(name, kNoFunctions);
}

Error malformed(const std::string& text) {
  return usage_error(
      "--functions '" + escape_control(text) + "' does not name a function of the kernel",
      "write kernel:NAME, kernel:REGEX, tracepoint:NAME or tracepoint:REGEX");
}

Error nothing_found(const std::string& what, const std::string& pattern,
                    const std::vector<std::string>& names) {
  std::string hint = escape_control(did_you_mean_of(pattern, names));
  if (starts_with_any(pattern, kSystemCalls))
    hint = "layer syscall has them: --layers +syscall --filter syscall:call=" +
           escape_control(pattern.substr(pattern.find('_', 4) + 1));
  return {Code::kNotFound, "this kernel has no " + what + " '" + escape_control(pattern) + "'",
          hint};
}

// The names that are wanted.
Result<std::vector<std::string>> choose(const std::string& text, const std::string& pattern,
                                        const std::string& what,
                                        const std::vector<std::string>& names) {
  const Result<Pattern> wanted = read_pattern(pattern);
  if (pattern.empty() || !wanted) return malformed(text);
  std::vector<std::string> chosen;
  for (const std::size_t i : find_wanted(*wanted, names)) chosen.push_back(names[i]);
  if (chosen.empty()) return nothing_found(what, pattern, names);
  return chosen;
}

// perf writes GROUP:NAME; a name is only one tracepoint's.
Status add_tracepoints(const std::string& text, Functions& found) {
  const std::string pattern = text.substr(text.rfind(':') + 1);
  FATHOM_ASSIGN(const std::vector<std::string> chosen,
                choose(text, pattern, "tracepoint", kernel_tracepoints()));
  for (const std::string& name : chosen)
    found.probed.push_back(
        {.file = std::string(kTracepointFile), .name = name, .times = Times::kUnknown});
  return {};
}

Status add_functions(const std::string& text, Functions& found) {
  const Result<std::string> symbols = read_file(kSymbols);
  if (!symbols) return symbols.error();
  const KernelNames all = names_in(*symbols);
  FATHOM_ASSIGN(const std::vector<std::string> chosen,
                choose(text, text.substr(text.find(':') + 1), "function", all.names));
  for (const std::string& name : chosen) {
    if (starts_with_any(name, kOurs))
      found.unprobed.push_back({name, "our own programs call it", true});
    else if (std::ranges::binary_search(all.several, name))
      found.unprobed.push_back({name, "several functions have this name", true});
    else
      found.probed.push_back({.file = std::string(kKernelFile), .name = name});
  }
  return {};
}

// securityfs may be mounted nowhere: it is made for this reading alone, and seen by nobody.
std::string read_lockdown() {
  if (const Result<std::string> text = read_file(kLockdown)) return *text;
#ifdef SYS_fsopen
  const Fd system(static_cast<int>(::syscall(SYS_fsopen, "securityfs", FSOPEN_CLOEXEC)));
  if (!system.valid() ||
      ::syscall(SYS_fsconfig, system.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return "";
  const Fd root(static_cast<int>(::syscall(SYS_fsmount, system.get(), FSMOUNT_CLOEXEC, 0)));
  const Fd file(::openat(root.get(), "lockdown", O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t got = file.valid() ? ::read(file.get(), text, sizeof text) : 0;
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
#else
  return "";
#endif
}

}  // namespace

bool is_of_kernel(std::string_view text) {
  return text.starts_with(std::string(kKernelFile) + ":") ||
         text.starts_with(std::string(kTracepointFile) + ":");
}

Status add_kernel_code(const std::string& text, Functions& found) {
  return text.starts_with(kTracepointFile) ? add_tracepoints(text, found)
                                           : add_functions(text, found);
}

KernelNames names_in(std::string_view kallsyms) {
  std::map<std::string, int> counts;
  for (const std::string_view line : split(kallsyms, '\n')) {
    const std::size_t space = line.find(' ');  // address, kind, name, perhaps a tab and its module
    if (space == std::string_view::npos || space + 3 >= line.size()) continue;
    const std::string_view rest = line.substr(space + 3);
    const std::string_view name = rest.substr(0, rest.find_first_of("\t "));
    if (is_function(name, line[space + 1])) ++counts[std::string(name)];
  }
  KernelNames names;
  for (const auto& [name, count] : counts) {
    names.names.push_back(name);
    // A probe by name would sit on one of them, and nobody could say which.
    if (count > 1) names.several.push_back(name);
  }
  return names;
}

std::string lockdown_in(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return "";
  const std::string_view level = text.substr(open + 1, close - open - 1);
  return level == "none" ? "" : std::string(level);
}

std::string why_no_functions() {
  const std::string level = lockdown_in(read_lockdown());
  std::vector<std::string> reasons;
  if (!level.empty()) reasons.push_back("it is locked down (" + level + ")");
  if (!path_exists(kKprobes)) reasons.emplace_back("it has no kprobes");
  return join(reasons, ", and ");
}

}  // namespace fathom::sources::ebpf

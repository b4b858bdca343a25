// SPDX-License-Identifier: MIT
// Everything here may be gone, or be another's, by the time that it is read: what cannot be read is
// left out. Files are opened where the process sees them, which may be in a container.
#include "sources/perf/found_process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"
#include "symbols/elf_file.h"

namespace fathom::sources {
namespace {

std::string place_of(pid_t process) { return "/proc/" + std::to_string(process); }

std::string text_of(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? std::move(text).value() : std::string();
}

std::string name_at(const std::string& place) {
  return std::string(trim(text_of(place + "/comm")));
}

// R runs or could run, I is an idle thread of the kernel; Z and X have ended.
bool is_asleep(char state) {
  return std::string_view("SDTtPI").find(state) != std::string_view::npos;
}

// Ticks since boot, which also count while the machine is suspended.
std::int64_t monotonic_of(std::uint64_t ticks) {
  timespec since_boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const std::int64_t suspended =
      std::int64_t{since_boot.tv_sec} * 1'000'000'000 + since_boot.tv_nsec - now_monotonic_ns();
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return static_cast<std::int64_t>(ticks) * tick_ns - suspended;
}

// Root sees the whole stack, others at most its innermost function.
std::vector<std::string> wait_at(const std::string& place) {
  std::vector<std::string> functions = parse_kernel_stack(text_of(place + "/stack"));
  if (!functions.empty()) return functions;
  const std::string innermost(trim(text_of(place + "/wchan")));
  if (!innermost.empty() && innermost != "0") functions.push_back(innermost);
  return functions;
}

}  // namespace

std::vector<std::string> parse_kernel_stack(std::string_view text) {
  std::vector<std::string> functions;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t begin = line.find("] ");
    if (begin == std::string_view::npos) continue;
    const std::string_view name = line.substr(begin + 2);
    const std::string_view plain = name.substr(0, name.find('+'));
    if (!plain.empty() && plain.find(' ') == std::string_view::npos) functions.emplace_back(plain);
  }
  return functions;
}

FoundThread find_thread(pid_t process, pid_t thread) {
  const std::string place = place_of(process) + "/task/" + std::to_string(thread);
  FoundThread found{.tid = thread, .name = name_at(place), .asleep = false, .waits_in = {}};
  const std::optional<ProcessStat> stat = parse_process_stat(text_of(place + "/stat"));
  found.asleep = stat && is_asleep(stat->state);
  if (found.asleep) found.waits_in = wait_at(place);
  return found;
}

const std::string& ProcessFinder::build_id_of(pid_t process, const CodeMapping& mapping) {
  static const std::string none;
  const std::string path = place_of(process) + "/root" + mapping.path;
  struct stat facts {};
  if (mapping.path[0] != '/' || ::stat(path.c_str(), &facts) != 0) return none;
  const auto [known, is_new] = build_ids_.try_emplace({facts.st_dev, facts.st_ino});
  if (is_new) {
    const Result<symbols::ElfFile> file = symbols::ElfFile::open(path);
    if (file) known->second = file->build_id();
  }
  return known->second;
}

FoundProcess ProcessFinder::find(pid_t process) {
  const std::string place = place_of(process);
  FoundProcess found;
  found.pid = process;
  found.name = name_at(place);
  if (const auto stat = parse_process_stat(text_of(place + "/stat"))) {
    found.ppid = stat->ppid;
    found.started_ns = monotonic_of(stat->start_ticks);
  }
  const Result<std::vector<std::string>> tasks = list_dir(place + "/task");
  for (const std::string& task : tasks ? *tasks : std::vector<std::string>()) {
    const Result<std::int64_t> thread = parse_int(task);
    if (!thread) continue;
    FoundThread one = find_thread(process, static_cast<pid_t>(*thread));
    if (!one.name.empty()) found.threads.push_back(std::move(one));
  }
  for (CodeMapping& mapping : parse_code_maps(text_of(place + "/maps"))) {
    const std::string& build_id = build_id_of(process, mapping);
    found.code.push_back({std::move(mapping), build_id});
  }
  return found;
}

}  // namespace fathom::sources

// SPDX-License-Identifier: MIT
// Reads what a report must know about the machine to be comparable: CPU, memory, kernel,
// distribution, boot. aarch64 names its cores by numbers only, hence the small table.
#include "base/host.h"

#include <sched.h>
#include <sys/utsname.h>

#include <array>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace fathom {
namespace {

std::string content_of(const std::string& path) {
  Result<std::string> content = read_file(path);
  return content.has_value() ? std::move(content).value() : "";
}

// The value of the first "key: value" or "key=value" line; "" when there is none.
std::string_view field(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos || trim(line.substr(0, at)) != key) continue;
    return trim(line.substr(at + 1));
  }
  return {};
}

struct ArmPart {
  std::string_view implementer, part, name;
};

// /proc/cpuinfo of aarch64 gives numbers; these are the cores of servers.
constexpr std::array<ArmPart, 9> kArmParts = {{
    {"0x41", "0xd08", "Arm Cortex-A72"},
    {"0x41", "0xd0c", "Arm Neoverse N1"},
    {"0x41", "0xd40", "Arm Neoverse V1"},
    {"0x41", "0xd49", "Arm Neoverse N2"},
    {"0x41", "0xd4f", "Arm Neoverse V2"},
    {"0x41", "0xd8e", "Arm Neoverse N3"},
    {"0x41", "0xd84", "Arm Neoverse V3"},
    {"0x46", "0x001", "Fujitsu A64FX"},
    {"0xc0", "0xac3", "Ampere-1"},
}};

std::string cpu_model_of(std::string_view cpuinfo) {
  const std::string_view model = field(cpuinfo, "model name", ':');
  if (!model.empty()) return std::string(model);
  const std::string_view implementer = field(cpuinfo, "CPU implementer", ':');
  const std::string_view part = field(cpuinfo, "CPU part", ':');
  for (const ArmPart& known : kArmParts) {
    if (known.implementer == implementer && known.part == part) return std::string(known.name);
  }
  if (implementer.empty()) return "";
  return "CPU implementer " + std::string(implementer) + " part " + std::string(part);
}

std::uint64_t memory_of(std::string_view meminfo) {
  const std::string_view total = field(meminfo, "MemTotal", ':');  // "24576000 kB"
  const Result<std::int64_t> kib = parse_int(total.substr(0, total.find(' ')));
  return kib.has_value() ? static_cast<std::uint64_t>(*kib) * 1024 : 0;
}

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 0;  // more than 1024 CPUs: unknown, not wrong
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

std::string system_of(std::string_view os_release) {
  std::string_view name = field(os_release, "PRETTY_NAME", '=');
  if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
  return std::string(name);
}

}  // namespace

HostFacts read_host_facts(const std::string& root) {
  HostFacts facts;
  utsname names{};
  if (uname(&names) == 0) {
    facts.hostname = names.nodename;
    facts.kernel = names.release;
    facts.arch = names.machine;
  }
  facts.system = system_of(content_of(root + "/etc/os-release"));
  facts.cpu_model = cpu_model_of(content_of(root + "/proc/cpuinfo"));
  facts.cores = usable_cores();
  facts.memory_bytes = memory_of(content_of(root + "/proc/meminfo"));
  facts.boot_id = std::string(trim(content_of(root + "/proc/sys/kernel/random/boot_id")));
  return facts;
}

const HostFacts& this_host() {
  static const HostFacts facts = read_host_facts();
  return facts;
}

}  // namespace fathom

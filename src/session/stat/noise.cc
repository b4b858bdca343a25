// SPDX-License-Identifier: MIT
// Small files of /proc and /sys. What is not there says nothing: a virtual machine has no governor.
#include "session/stat/noise.h"

#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/host.h"
#include "base/text.h"

namespace fathom::session {
namespace {

constexpr char kGovernor[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
constexpr char kNoTurbo[] = "/sys/devices/system/cpu/intel_pstate/no_turbo";
constexpr char kBoost[] = "/sys/devices/system/cpu/cpufreq/boost";

std::string one_decimal(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

}  // namespace

std::vector<std::string> Noise::warnings() const {
  constexpr double kFree = 0.5;  // of the cores
  constexpr double kStolen = 0.01;
  std::vector<std::string> sentences;
  if (load > kFree * cores)
    sentences.push_back("other programs wanted the cores: the load was " + one_decimal(load) +
                        " on " + std::to_string(cores) + " when measuring began");
  if (steal && *steal > kStolen)
    sentences.push_back("the hypervisor gave " + one_decimal(100 * *steal) +
                        " % of the cores' time to other machines");
  if (!governor.empty() && governor != "performance")
    sentences.push_back("the CPUs' frequency follows the governor '" + governor +
                        "'; 'performance' is steadier");
  return sentences;
}

NoiseMeter::NoiseMeter(std::string root) : root_(std::move(root)), begin_(cpu_times()) {
  load_ = std::strtod(line("/proc/loadavg").c_str(), nullptr);
}

std::string NoiseMeter::line(const std::string& path) const {
  const Result<std::string> text = read_file(root_ + path);
  return text ? std::string(trim(*text)) : std::string();
}

std::optional<MachineCpu> NoiseMeter::cpu_times() const {
  return parse_machine_cpu(line("/proc/stat"));
}

Noise NoiseMeter::read() const {
  Noise noise;
  noise.governor = line(kGovernor);
  noise.load = load_;
  noise.cores = this_host().cores;
  const std::optional<MachineCpu> now = cpu_times();
  if (begin_ && now && now->total > begin_->total)
    noise.steal = static_cast<double>(now->stolen - begin_->stolen) /
                  static_cast<double>(now->total - begin_->total);
  if (const std::string no_turbo = line(kNoTurbo); !no_turbo.empty()) {
    noise.boost = no_turbo == "0";
  } else if (const std::string boost = line(kBoost); !boost.empty()) {
    noise.boost = boost == "1";
  }
  return noise;
}

}  // namespace fathom::session

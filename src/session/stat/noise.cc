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

// "cpu user nice system idle iowait irq softirq steal …": guests are part of user and nice.
std::optional<NoiseMeter::CpuTimes> NoiseMeter::cpu_times() const {
  constexpr std::size_t kSteal = 8;
  const std::string text = line("/proc/stat");
  if (!text.starts_with("cpu ")) return std::nullopt;
  CpuTimes times;
  std::size_t place = 0;
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  for (const std::string_view word : split(first, ' ')) {
    if (word.empty()) continue;
    const Result<std::int64_t> ticks = parse_int(word);
    if (place > 0 && place <= kSteal && ticks && *ticks >= 0) {
      times.all += static_cast<std::uint64_t>(*ticks);
      if (place == kSteal) times.stolen = static_cast<std::uint64_t>(*ticks);
    }
    ++place;
  }
  return times;
}

Noise NoiseMeter::read() const {
  Noise noise;
  noise.governor = line(kGovernor);
  noise.load = load_;
  noise.cores = this_host().cores;
  const std::optional<CpuTimes> now = cpu_times();
  if (begin_ && now && now->all > begin_->all)
    noise.steal = static_cast<double>(now->stolen - begin_->stolen) /
                  static_cast<double>(now->all - begin_->all);
  if (const std::string no_turbo = line(kNoTurbo); !no_turbo.empty()) {
    noise.boost = no_turbo == "0";
  } else if (const std::string boost = line(kBoost); !boost.empty()) {
    noise.boost = boost == "1";
  }
  return noise;
}

}  // namespace fathom::session

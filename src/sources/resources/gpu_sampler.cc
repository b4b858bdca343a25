// SPDX-License-Identifier: MIT
// A table of metrics, each with its function. What a device does not support is asked once and then
// left out.
#include "sources/resources/gpu_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"

namespace fathom::sources {
namespace {

constexpr int kMostProcesses = 4096;

struct Answer {
  int result = Nvml::kNoFunction;
  double value = 0;
};

// A number of a device. The functions ask for one each, so that one that fails is alone in it.
struct Metric {
  std::string_view what, unit;
  bool thorough;
  Answer (*read)(const Nvml& nvml, Nvml::Device device);
  bool wraps = false;  // a counter of 32 bits
};

Answer utilization(const Nvml& nvml, Nvml::Device device, unsigned Nvml::Utilization::*part) {
  if (nvml.utilization == nullptr) return {};
  Nvml::Utilization value{};
  const int result = nvml.utilization(device, &value);
  return {result, static_cast<double>(value.*part)};
}

// The second version leaves what the driver keeps for itself out of what is used.
Answer memory(const Nvml& nvml, Nvml::Device device, std::uint64_t Nvml::Memory::*part,
              std::uint64_t Nvml::OldMemory::*old_part) {
  if (nvml.memory != nullptr) {
    Nvml::Memory value{};
    value.version = static_cast<unsigned>(sizeof value) | (2U << 24U);
    const int result = nvml.memory(device, &value);
    if (result == Nvml::kSuccess) return {result, static_cast<double>(value.*part)};
  }
  if (nvml.old_memory == nullptr) return {};
  Nvml::OldMemory value{};
  const int result = nvml.old_memory(device, &value);
  return {result, static_cast<double>(value.*old_part)};
}

Answer power(const Nvml& nvml, Nvml::Device device) {
  if (nvml.power == nullptr) return {};
  unsigned milliwatts = 0;
  const int result = nvml.power(device, &milliwatts);
  return {result, milliwatts / 1e3};
}

Answer energy(const Nvml& nvml, Nvml::Device device) {
  if (nvml.energy == nullptr) return {};
  unsigned long long millijoules = 0;
  const int result = nvml.energy(device, &millijoules);
  return {result, static_cast<double>(millijoules) / 1e3};
}

Answer temperature(const Nvml& nvml, Nvml::Device device) {
  if (nvml.temperature != nullptr) {
    unsigned degrees = 0;
    const int result = nvml.temperature(device, 0, &degrees);
    if (result == Nvml::kSuccess || nvml.temperature_v == nullptr)
      return {result, static_cast<double>(degrees)};
  }
  if (nvml.temperature_v == nullptr) return {};
  Nvml::Temperature value{};
  value.version = static_cast<unsigned>(sizeof value) | (1U << 24U);
  const int result = nvml.temperature_v(device, &value);
  return {result, static_cast<double>(value.degrees)};
}

template <int Type>
Answer clock(const Nvml& nvml, Nvml::Device device) {
  if (nvml.clock == nullptr) return {};
  unsigned megahertz = 0;
  const int result = nvml.clock(device, Type, &megahertz);
  return {result, static_cast<double>(megahertz)};
}

// Of the time in which the device was slower than it could be, for heat or power: 0 or 100 each
// time, which makes a share of many.
Answer slowed(const Nvml& nvml, Nvml::Device device) {
  if (nvml.clock_reasons == nullptr) return {};
  constexpr unsigned long long kPowerCap = 0x4, kSlowdown = 0x8, kHeat = 0x20 | 0x40, kBrake = 0x80;
  unsigned long long reasons = 0;
  const int result = nvml.clock_reasons(device, &reasons);
  return {result, (reasons & (kPowerCap | kSlowdown | kHeat | kBrake)) != 0 ? 100.0 : 0.0};
}

// Counters that only grow, of all links together.
template <unsigned Id, unsigned Scale>
Answer field(const Nvml& nvml, Nvml::Device device) {
  if (nvml.fields == nullptr) return {};
  constexpr unsigned kAllLinks = ~0U;
  Nvml::Field value{};
  value.id = Id;
  value.scope = Id < 150 ? kAllLinks : 0;
  const int result = nvml.fields(device, 1, &value);
  if (result != Nvml::kSuccess) return {result, 0};
  enum Type { kDouble, kUnsigned, kUnsignedLong, kUnsignedLongLong };
  const double number = value.type == kDouble     ? value.value.real
                        : value.type == kUnsigned ? static_cast<double>(value.value.small)
                                                  : static_cast<double>(value.value.whole);
  return {value.result, number * Scale};
}

constexpr Metric kMetrics[] = {
    {"busy", "percent", false,
     [](const Nvml& n, Nvml::Device d) { return utilization(n, d, &Nvml::Utilization::gpu); }},
    {"memory_busy", "percent", false,
     [](const Nvml& n, Nvml::Device d) { return utilization(n, d, &Nvml::Utilization::memory); }},
    {"memory_used", "bytes", false,
     [](const Nvml& n, Nvml::Device d) {
       return memory(n, d, &Nvml::Memory::used, &Nvml::OldMemory::used);
     }},
    {"power", "W", false, power},
    {"temperature", "C", false, temperature},
    {"clock", "MHz", false, clock<1>},
    {"memory_clock", "MHz", false, clock<2>},
    {"slowed", "percent", false, slowed},
    {"memory_total", "bytes", true,
     [](const Nvml& n, Nvml::Device d) {
       return memory(n, d, &Nvml::Memory::total, &Nvml::OldMemory::total);
     }},
    {"energy", "J", true, energy},
    {"pcie_sent", "bytes", false, field<197, 1>, true},
    {"pcie_received", "bytes", false, field<198, 1>, true},
    {"nvlink_sent", "bytes", true, field<138, 1024>},
    {"nvlink_received", "bytes", true, field<139, 1024>},
};
constexpr std::string_view kProcessMemory = "process_memory";
constexpr std::string_view kProcessBusy = "process_busy";

// Whether this process counts processes as the machine itself does.
bool in_first_namespace() {
  char link[64] = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", link, sizeof link - 1);
  return length <= 0 || std::string_view(link) == "pid:[4026531836]";
}

std::string text_of(int (*read)(Nvml::Device, char*, unsigned), Nvml::Device device) {
  std::array<char, 128> text{};
  if (read == nullptr || read(device, text.data(), text.size() - 1) != Nvml::kSuccess) return "";
  return text.data();
}

}  // namespace

std::optional<GpuSampler> GpuSampler::open(std::string& reason) {
  const std::optional<Nvml> nvml = Nvml::load();
  if (!nvml) {
    reason = "there is no libnvidia-ml.so.1";
    return std::nullopt;
  }
  if (const int result = nvml->init(); result != Nvml::kSuccess) {
    reason = "NVML cannot begin (" + std::to_string(result) + ")";
    return std::nullopt;
  }
  GpuSampler sampler(*nvml);
  sampler.open_ = true;
  sampler.other_pids_ = !in_first_namespace();
  sampler.find_gpus();
  if (sampler.gpus_.empty()) {
    reason = "NVML knows no GPU";
    return std::nullopt;
  }
  return sampler;
}

GpuSampler::GpuSampler(GpuSampler&& other) noexcept
    : nvml_(other.nvml_),
      open_(std::exchange(other.open_, false)),
      other_pids_(other.other_pids_),
      unknown_pids_(other.unknown_pids_),
      gpus_(std::move(other.gpus_)),
      readings_(std::move(other.readings_)) {}

GpuSampler::~GpuSampler() {
  gpus_.clear();
  if (open_) nvml_.shutdown();
}

// One that cannot be had (another user's, broken) hides no other.
void GpuSampler::find_gpus() {
  unsigned count = 0;
  if (nvml_.count(&count) != Nvml::kSuccess) return;
  for (unsigned index = 0; index < count; index++) {
    Gpu gpu;
    gpu.index = index;
    if (nvml_.handle(index, &gpu.device) != Nvml::kSuccess) continue;
    gpu.name = text_of(nvml_.name, gpu.device);
    gpu.uuid = text_of(nvml_.uuid, gpu.device);
    gpu.parts = GpuParts::open(nvml_, gpu.device);
    gpus_.push_back(std::move(gpu));
  }
}

// What a device has not got is not asked for again; other failures may pass.
bool GpuSampler::works(Gpu& gpu, std::string_view what, int result) {
  if (result == Nvml::kSuccess) return true;
  if (result == Nvml::kNotSupported || result == Nvml::kNoFunction) gpu.missing.insert(what);
  if (result == Nvml::kGpuIsLost) gpu.lost = true;
  return false;
}

void GpuSampler::add(const Gpu& gpu, std::string_view what, std::string_view unit, double value,
                     pid_t pid) {
  std::string name = "gpu" + std::to_string(gpu.index) + "_";
  name += what;
  readings_.push_back({std::move(name), unit, value, pid});
}

std::vector<GpuReading> GpuSampler::sample(GpuDepth depth, const std::set<pid_t>& pids) {
  readings_.clear();
  for (Gpu& gpu : gpus_) {
    if (gpu.lost) continue;
    sample_gpu(gpu, depth.thorough);
    if (depth.parts) sample_parts(gpu);
    if (!depth.thorough || pids.empty()) continue;
    sample_processes(gpu, pids);
    sample_process_utilization(gpu, pids);
  }
  return std::move(readings_);
}

// Right as long as less than 4 GiB move between two samples, as on all devices that have no GPM.
double GpuSampler::unwrapped(Gpu& gpu, std::string_view what, double value) {
  constexpr double kRange = 4294967296.0;
  Gpu::Counter& counter = gpu.counters[what];
  if (value < counter.last && counter.last < kRange) counter.carried += kRange;
  counter.last = value;
  return value + counter.carried;
}

void GpuSampler::sample_gpu(Gpu& gpu, bool thorough) {
  for (const Metric& metric : kMetrics) {
    if ((metric.thorough && !thorough) || gpu.missing.contains(metric.what)) continue;
    if (gpu.parts && GpuParts::tells(metric.what)) continue;
    const Answer answer = metric.read(nvml_, gpu.device);
    if (!works(gpu, metric.what, answer.result)) continue;
    add(gpu, metric.what, metric.unit,
        metric.wraps ? unwrapped(gpu, metric.what, answer.value) : answer.value);
  }
}

void GpuSampler::sample_parts(Gpu& gpu) {
  if (!gpu.parts) return;
  for (const PartReading& reading : gpu.parts->sample(now_monotonic_ns()))
    add(gpu, reading.what, reading.unit, reading.value);
}

// The list may have grown since its length was asked for.
std::optional<std::vector<Nvml::Process>> GpuSampler::processes_of(Gpu& gpu) {
  std::vector<Nvml::Process> list(64);
  for (auto count = static_cast<unsigned>(list.size());; count *= 2) {
    list.resize(std::min<std::size_t>(count, kMostProcesses));
    count = static_cast<unsigned>(list.size());
    int result = Nvml::kNoFunction;
    std::vector<Nvml::OldProcess> old;
    if (nvml_.processes != nullptr) {
      result = nvml_.processes(gpu.device, &count, list.data());
    } else if (nvml_.old_processes != nullptr) {
      old.resize(list.size());
      result = nvml_.old_processes(gpu.device, &count, old.data());
    }
    if (result == Nvml::kInsufficientSize && list.size() < kMostProcesses) continue;
    if (!works(gpu, kProcessMemory, result)) return std::nullopt;
    list.resize(std::min<std::size_t>(count, list.size()));
    for (std::size_t i = 0; i < list.size() && !old.empty(); i++)
      list[i] = {old[i].pid, old[i].memory, 0, 0};
    return list;
  }
}

// In a container the driver may tell the machine's numbers, which are others' here: whoever is
// meant has the driver open.
bool GpuSampler::is_same_process(pid_t pid) const {
  if (!other_pids_) return true;
  std::error_code error;
  const std::string place = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
    std::error_code unreadable;
    const std::string target = std::filesystem::read_symlink(entry.path(), unreadable);
    if (!unreadable && target.starts_with("/dev/nvidia")) return true;
  }
  return false;
}

void GpuSampler::sample_processes(Gpu& gpu, const std::set<pid_t>& pids) {
  if (gpu.missing.contains(kProcessMemory)) return;
  const auto list = processes_of(gpu);
  if (!list) return;
  std::map<pid_t, double> sums;  // a process may have several parts of a device
  bool known = list->empty();
  for (const Nvml::Process& process : *list) {
    const auto pid = static_cast<pid_t>(process.pid);
    if (!pids.contains(pid) || !is_same_process(pid)) continue;
    known = true;
    if (process.memory != Nvml::kNoValue) sums[pid] += static_cast<double>(process.memory);
  }
  unknown_pids_ |= other_pids_ && !known;
  for (const auto& [pid, bytes] : sums) add(gpu, kProcessMemory, "bytes", bytes, pid);
}

void GpuSampler::sample_process_utilization(Gpu& gpu, const std::set<pid_t>& pids) {
  if (gpu.missing.contains(kProcessBusy)) return;
  unsigned count = kMostProcesses;
  std::vector<Nvml::ProcessUtilization> samples(count);
  const int result =
      nvml_.process_utilization == nullptr
          ? Nvml::kNoFunction
          : nvml_.process_utilization(gpu.device, samples.data(), &count, gpu.last_utilization);
  if (result == Nvml::kNotFound) return;  // nothing ran since the last time
  if (!works(gpu, kProcessBusy, result)) return;
  samples.resize(std::min<std::size_t>(count, samples.size()));
  std::map<pid_t, std::pair<double, int>> sums;
  for (const Nvml::ProcessUtilization& one : samples) {
    const auto pid = static_cast<pid_t>(one.pid);
    gpu.last_utilization = std::max(gpu.last_utilization, one.timestamp);
    if (!pids.contains(pid) || one.timestamp == 0 || one.sm > 100 || !is_same_process(pid))
      continue;
    sums[pid].first += one.sm;
    sums[pid].second++;
  }
  for (const auto& [pid, sum] : sums)
    add(gpu, kProcessBusy, "percent", sum.first / sum.second, pid);
}

std::map<std::string, std::string> GpuSampler::facts() const {
  std::map<std::string, std::string> facts;
  std::array<char, 128> version{};
  if (nvml_.driver_version != nullptr &&
      nvml_.driver_version(version.data(), version.size() - 1) == Nvml::kSuccess)
    facts["gpu driver"] = version.data();
  for (const Gpu& gpu : gpus_) {
    const std::string key = "gpu " + std::to_string(gpu.index);
    facts[key] = gpu.name + (gpu.uuid.empty() ? "" : " (" + gpu.uuid + ")");
    std::string missing;
    for (const std::string_view what : gpu.missing)
      missing += (missing.empty() ? "" : ", ") + std::string(what);
    if (!gpu.parts) missing += (missing.empty() ? "" : ", ") + std::string("what its parts do");
    if (!missing.empty()) facts[key + " does not tell"] = missing;
  }
  if (unknown_pids_) facts["gpu processes"] = "process IDs are the host's; not assigned";
  return facts;
}

}  // namespace fathom::sources

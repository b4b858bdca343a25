// SPDX-License-Identifier: MIT
// What NVML tells the sampler of layer resource on this machine, and what asking costs. Links that
// code alone: c++ -std=c++20 -Isrc bench/gpu/sampling.cc
// src/sources/resources/{gpu_sampler,gpu_parts,nvml}.cc src/base/clock.cc usage: sampling SECONDS
// [PID…]   the processes whose memory and time is asked for
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sources/resources/gpu_sampler.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace fathom::sources;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void print_costs(const char* what, std::vector<double>& costs) {
  if (costs.empty()) return;
  std::sort(costs.begin(), costs.end());
  std::printf("%s: %zu samples, median %.1f us, most %.1f us\n", what, costs.size(),
              costs[costs.size() / 2], costs.back());
}

// The numbers of processes as the driver has them: those of this container, or of the machine?
void print_processes() {
  const std::optional<Nvml> nvml = Nvml::load();
  Nvml::Device device = nullptr;
  if (!nvml || nvml->init() != 0 || nvml->handle(0, &device) != 0 || nvml->processes == nullptr)
    return;
  std::vector<Nvml::Process> list(1024);
  auto count = static_cast<unsigned>(list.size());
  const int result = nvml->processes(device, &count, list.data());
  std::printf("processes: result %d, %u\n", result, result == 0 ? count : 0);
  for (unsigned i = 0; result == 0 && i < count && i < 8; i++)
    std::printf("  pid %u, %llu bytes\n", list[i].pid,
                static_cast<unsigned long long>(list[i].memory));
  nvml->shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  std::set<pid_t> pids;
  for (int i = 2; i < argc; i++) pids.insert(std::atoi(argv[i]));
  std::string reason;
  const Clock::time_point opening = Clock::now();
  std::optional<GpuSampler> sampler = GpuSampler::open(reason);
  std::printf("open: %.0f us %s\n", us_since(opening), reason.c_str());
  if (!sampler) return 1;
  std::map<std::string, std::pair<double, double>> first_last;
  std::map<std::string, std::string_view> units;
  std::vector<double> quick, parts, thorough;
  const Clock::time_point begin = Clock::now();
  for (int n = 0; us_since(begin) < seconds * 1e6; n++) {
    const GpuDepth depth{n % 10 == 0, n % 2 == 1};
    const Clock::time_point now = Clock::now();
    const std::vector<GpuReading> readings = sampler->sample(depth, pids);
    (depth.thorough ? thorough : depth.parts ? parts : quick).push_back(us_since(now));
    for (const GpuReading& reading : readings) {
      const std::string name = reading.name + (reading.pid != 0 ? " of a process" : "");
      units[name] = reading.unit;
      const auto [at, fresh] = first_last.try_emplace(name, reading.value, reading.value);
      at->second.second = reading.value;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  print_costs("quick", quick);
  print_costs("parts", parts);
  print_costs("thorough", thorough);
  for (const auto& [name, values] : first_last)
    std::printf("%-34s %16.3f .. %16.3f %s\n", name.c_str(), values.first, values.second,
                units[name].data());
  for (const auto& [fact, value] : sampler->facts())
    std::printf("%s: %s\n", fact.c_str(), value.c_str());
  print_processes();
  return 0;
}

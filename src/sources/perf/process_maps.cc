// SPDX-License-Identifier: MIT
// The kernel tells of what is mapped and not of what is unmapped: a region lasts until another lies
// in its place.
#include "sources/perf/process_maps.h"

#include <iterator>

namespace fathom::sources {
namespace {

std::uint64_t end_of(const ProcessMaps::Region& region) { return region.address + region.length; }

// Takes [begin, end) away from the regions.
template <class Regions>
void cut(Regions& regions, std::uint64_t begin, std::uint64_t end) {
  auto at = regions.upper_bound(begin);
  if (at != regions.begin()) --at;
  while (at != regions.end() && at->first < end) {
    const ProcessMaps::Region old = at->second;
    if (end_of(old) <= begin) {
      ++at;
      continue;
    }
    at = regions.erase(at);
    if (old.address < begin)
      regions[old.address] = {old.address, begin - old.address, old.offset, old.module};
    if (end_of(old) > end)
      regions[end] = {end, end_of(old) - end, old.offset + (end - old.address), old.module};
  }
}

}  // namespace

const Module* ProcessMaps::module(std::string_view path, std::string_view build_id) {
  const auto [place, is_new] =
      modules_.try_emplace({std::string(path), std::string(build_id)}, Module());
  if (is_new) place->second = {std::string(path), std::string(build_id)};
  return &place->second;
}

ProcessMaps::Regions& ProcessMaps::own(std::int32_t pid) {
  std::shared_ptr<Regions>& regions = processes_[pid];
  if (!regions) {
    regions = std::make_shared<Regions>();
  } else if (regions.use_count() > 1) {
    regions = std::make_shared<Regions>(*regions);
  }
  return *regions;
}

void ProcessMaps::mapped(std::int32_t pid, const Region& region) {
  const std::uint64_t end = end_of(region);
  if (region.length == 0 || end < region.address) return;
  Regions& regions = own(pid);
  cut(regions, region.address, end);
  regions[region.address] = region;
}

void ProcessMaps::forked(std::int32_t parent, std::int32_t child) {
  const auto found = processes_.find(parent);
  if (found == processes_.end()) {
    processes_.erase(child);
  } else {
    processes_[child] = found->second;
  }
}

std::optional<ProcessMaps::Place> ProcessMaps::find(std::int32_t pid, std::uint64_t address) const {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return std::nullopt;
  const Regions& regions = *process->second;
  auto at = regions.upper_bound(address);
  if (at == regions.begin()) return std::nullopt;
  const Region& region = std::prev(at)->second;
  if (address >= end_of(region)) return std::nullopt;
  return Place{region.module, address - region.address + region.offset};
}

}  // namespace fathom::sources

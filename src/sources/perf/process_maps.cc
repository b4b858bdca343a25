// SPDX-License-Identifier: MIT
// The kernel tells of what is mapped and not of what is unmapped: a region lasts until another lies
// in its place.
#include "sources/perf/process_maps.h"

namespace fathom::sources {

const Module* ProcessMaps::module(std::string_view path, std::string_view build_id) {
  const auto [place, is_new] =
      modules_.try_emplace({std::string(path), std::string(build_id)}, Module());
  if (is_new) place->second = {std::string(path), std::string(build_id)};
  return &place->second;
}

ProcessMaps::Space& ProcessMaps::own(std::int32_t pid) {
  std::shared_ptr<Space>& space = processes_[pid];
  if (!space) {
    space = std::make_shared<Space>();
  } else if (space.use_count() > 1) {
    space = std::make_shared<Space>(*space);
  }
  space->code.reset();
  space->changes++;
  return *space;
}

ProcessMaps::Space* ProcessMaps::space(std::int32_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second.get();
}

void ProcessMaps::mapped(std::int32_t pid, const Region& region) {
  own(pid).regions.put(region.address, region.address + region.length, region);
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
  const Space* process = space(pid);
  const auto found =
      process != nullptr ? process->regions.find(address) : decltype(process->regions.find(0))();
  if (!found) return std::nullopt;
  const Region& region = *found->value;
  return Place{region.module, address - region.address + region.offset};
}

}  // namespace fathom::sources

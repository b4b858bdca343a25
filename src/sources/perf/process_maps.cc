// SPDX-License-Identifier: MIT
// The kernel tells of what is mapped and not of what is unmapped: a region lasts until another lies
// in its place.
#include "sources/perf/process_maps.h"

namespace fathom::sources {

namespace {

// A program that maps files without end must not take our memory with it.
constexpr std::size_t kMostModules = 16384;
constexpr std::size_t kMostRegions = 65536;  // of a process

}  // namespace

Module* ProcessMaps::module(std::string_view path, std::string_view build_id,
                            bool is_in_anothers_place) {
  std::tuple key(std::string(path), std::string(build_id), is_in_anothers_place);
  const auto known = modules_.find(key);
  if (known != modules_.end()) return &known->second;
  if (modules_.size() >= kMostModules) return nullptr;
  Module& made = modules_[std::move(key)];
  made.path = path;
  made.build_id = build_id;
  made.is_in_anothers_place = is_in_anothers_place;
  return &made;
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

bool ProcessMaps::mapped(std::int32_t pid, const Region& region) {
  Space& space = own(pid);
  if (space.regions.size() >= kMostRegions) return false;
  space.regions.put(region.address, region.address + region.length, region);
  return true;
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

// SPDX-License-Identifier: MIT
// Decides from the bytes that each layer has in a process, added up beforehand, which layers of it
// are asked for bytes. The ranks of trace/rows/layers.h say which layer of the kernel is outermost.
#include "analysis/canvas/byte_tellers.h"

#include <algorithm>

#include "base/sum.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kDriver = "cuda";

}  // namespace

bool ByteTellers::is_shared(std::string_view layer) {
  return layer == kDriver || trace::is_io(layer) || trace::is_kernel(layer) ||
         trace::is_device(layer);
}

void ByteTellers::add(const Track& track, std::string_view layer, std::int64_t bytes) {
  if (bytes <= 0) return;
  Process& process = processes_[key_of(track)];
  if (trace::is_io(layer)) add_to(process.asked, bytes);
  if (trace::is_kernel(layer))
    process.outermost = std::min(process.outermost, trace::find_layer(layer)->rank);
  if (layer == kDriver) add_to(process.driver, bytes);
  if (trace::is_device(layer)) add_to(process.device, bytes);
}

bool ByteTellers::tells(const Track& track, std::string_view layer) const {
  const auto found = processes_.find(key_of(track));
  if (found == processes_.end()) return true;
  const Process& process = found->second;
  if (trace::is_kernel(layer))
    return process.asked == 0 && trace::find_layer(layer)->rank == process.outermost;
  if (layer == kDriver) return process.driver >= process.device;
  if (trace::is_device(layer)) return process.device > process.driver;
  return true;
}

}  // namespace fathom::analysis

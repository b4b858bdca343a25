// SPDX-License-Identifier: MIT
#include "sources/list.h"

#include <algorithm>

namespace fathom::sources {

extern const SourceDef kAnnotate;
extern const SourceDef kStdio;
extern const SourceDef kPosix;
extern const SourceDef kResources;

namespace {

const SourceDef* const kSources[] = {
    &kAnnotate,
    &kStdio,
    &kPosix,
    &kResources,
};

constexpr LayerDef kLayers[] = {
    {"app", "functions and regions that the program annotates", true},
    {"python", "Python functions", false},
    {"stdio", "calls of stdio: fopen, fread, printf", true},
    {"posix", "calls of POSIX I/O and processes: open, read, fork", true},
    {"heap", "memory allocations", false},
    {"user", "functions of any program or library, by probes", false},
    {"syscall", "system calls", false},
    {"sched", "waiting for a CPU", false},
    {"vfs", "the kernel's virtual file system", false},
    {"fs", "the file systems", false},
    {"pagecache", "the page cache", false},
    {"block", "block devices", false},
    {"net", "network connections", false},
    {"cuda", "calls of the CUDA driver", false},
    {"gpu", "what GPUs do", false},
    {"cpu", "hardware counters and call stacks", false},
    {"resource", "CPU, memory and I/O used by processes, control group and machine", true},
};

}  // namespace

std::span<const SourceDef* const> sources() { return kSources; }
std::span<const LayerDef> layers() { return kLayers; }

const LayerDef* find_layer(std::string_view name) {
  const auto* const found = std::ranges::find(kLayers, name, &LayerDef::name);
  return found == std::end(kLayers) ? nullptr : found;
}

const SourceDef* source_of(std::string_view layer) {
  for (const SourceDef* source : kSources) {
    if (std::ranges::find(source->layers, layer) != source->layers.end()) return source;
  }
  return nullptr;
}

Availability probe_layer(std::string_view layer) {
  const SourceDef* source = source_of(layer);
  if (source == nullptr) return {.available = false, .reason = "not in this version", .fix = ""};
  return source->probe();
}

}  // namespace fathom::sources

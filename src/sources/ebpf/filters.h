// SPDX-License-Identifier: MIT
// What of the kernel's layers is recorded, as `--filter` says it. The kernel's half does the work,
// and counts what it leaves out.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sources/ebpf/shared.h"

namespace fathom::sources::ebpf {

// What the kernel's half leaves out, in the form in which it compares.
struct Filters {
  std::array<fathom_bpf_filter, FATHOM_BPF_LAYERS> of_layers{};
  std::uint32_t filtered = 0;               // a bit for each layer with a filter
  bool by_path = false;                     // of some layer
  std::vector<fathom_file_key> wanted;      // what lies at or below these
  std::vector<fathom_prefix> wanted_texts;  // the same by their texts, unless too long
  std::uint64_t cgroup = 0;                 // 0: all
};

// A file as the kernel's half finds it, without its generation.
Result<fathom_file_key> key_of_file(const std::string& path);

// A path itself, and what lies below it, by their texts: none where it is too long.
std::vector<fathom_prefix> prefixes_of(const std::string& path);

// Each text is [LAYER:]KEY=VALUE. Several of one key: any of them.
//   path=PATH     files at or below it, of layers whose calls have files
//   call=NAME     calls of this name (* and ? stand for others), of layers that have such a call
//   min=TIME      calls that took this long, of layers whose calls have a duration
//   one-in=N      one of N calls, by chance
//   cgroup=DIR    tasks in this control group (version 2) or below; of all layers at once
// Without LAYER it is of all `layers`. kUsage where it is none of these; kNotFound where there is
// no such path or group.
Result<Filters> read_filters(const std::vector<std::string>& texts,
                             const std::vector<fathom_bpf_layer>& layers);

}  // namespace fathom::sources::ebpf

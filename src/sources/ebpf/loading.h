// SPDX-License-Identifier: MIT
// Objects of BPF code into the kernel and onto their hooks. Included by files that may know
// libbpf only.
#pragma once

#include <bpf/libbpf.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "sources/ebpf/modules.h"
#include "sources/ebpf/probes.h"

namespace fathom::sources::ebpf {

// As deleters, since libbpf is C.
struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
struct DestroyLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Link = std::unique_ptr<bpf_link, DestroyLink>;

// One module in the kernel: at work as long as it has links, for those that are adopted.
struct Loaded {
  const Module* module = nullptr;
  Flavor flavor = Flavor::kTyped;
  std::unique_ptr<bpf_object, CloseObject> object;
  std::vector<Link> links;
  std::vector<Fd> uprobes;          // links that libbpf does not know
  int iterator = -1;                // one of `links`, that walks through all tasks
  bool ends_faults = false;         // some of `links` tell when faults have ended
  std::vector<std::string> absent;  // hooks that this kernel has not got

  [[nodiscard]] int map(const char* name) const {
    const bpf_map* found = bpf_object__find_map_by_name(object.get(), name);
    return found == nullptr ? -1 : bpf_map__fd(found);
  }
};

// How much there is room for in the maps that all share; 0: as the programs say.
struct Room {
  std::uint32_t ring_bytes = 0;
  std::uint32_t rows = 0;
};

// The module whose maps all others share, on the best flavor that this kernel has. kDenied where
// the kernel wants a privilege.
Result<Loaded> load_first(const Room& room);

// Loads it and puts it to its hooks; functions of programs come later.
Result<Loaded> load_module(const Module& module, const Loaded& first);

// A process is recorded from its next exec on, or at once.
Status follow(const Loaded& first, pid_t process, bool at_once);
void unfollow(const Loaded& first, pid_t process);

// What it records, from now on.
Status set_up(Loaded& loaded, const ProbeOptions& options);
// The age in which files are met from now on.
Status set_age(Loaded& loaded, std::uint32_t age);

// The kernel's answer, with libbpf's own words, or the last ones of the kernel's verifier. kDenied
// where a privilege is missing.
Error refused(int number);

// The last lines that tell something, as one.
std::string end_of_log(std::string_view log);

}  // namespace fathom::sources::ebpf

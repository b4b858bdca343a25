// SPDX-License-Identifier: MIT
// Objects of BPF code into the kernel and onto their hooks. Included by probes.cc and loading.cc
// only.
#pragma once

#include <bpf/libbpf.h>

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "sources/ebpf/modules.h"
#include "sources/ebpf/probes.h"

namespace fathom::sources::ebpf {

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
struct DestroyLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

// One module in the kernel: at work as long as it has links.
struct Loaded {
  std::unique_ptr<bpf_object, CloseObject> object;
  std::vector<std::unique_ptr<bpf_link, DestroyLink>> links;
  std::vector<Fd> uprobes;          // links, of layer user
  std::vector<std::string> absent;  // hooks that this kernel has not got

  [[nodiscard]] int map(const char* name) const {
    const bpf_map* found = bpf_object__find_map_by_name(object.get(), name);
    return found == nullptr ? -1 : bpf_map__fd(found);
  }
};

// `first`: the module whose maps are shared; nullptr for that one itself. kDenied where the kernel
// wants a privilege.
Result<Loaded> load_module(const Module& module, const ProbeOptions& options, const Loaded* first);

}  // namespace fathom::sources::ebpf

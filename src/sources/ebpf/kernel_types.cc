// SPDX-License-Identifier: MIT
// Looks tracepoints up in the kernel's BTF before anything is loaded, so that a hook which this
// kernel lacks can be left out and named.
#include "sources/ebpf/kernel_types.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/files.h"

namespace fathom::sources::ebpf {
namespace {

constexpr char kKernelTypes[] = "/sys/kernel/btf/vmlinux";
constexpr std::string_view kOfTracepoint = "btf_trace_";

struct FreeTypes {
  void operator()(btf* types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, FreeTypes>;

const btf* kernel_types() {
  static const Types types(btf__load_vmlinux_btf());
  return types.get();
}

// Many kernels have ext4 and its journal as modules, with types of their own; nullptr where it is
// built in.
Types types_of_module(const char* name) {
  if (!path_exists(std::string("/sys/kernel/btf/") + name)) return nullptr;
  return Types(btf__load_module_btf(name, const_cast<btf*>(kernel_types())));
}
const btf* ext4_types() {
  static const Types types = types_of_module("ext4");
  return types.get();
}
const btf* journal_types() {
  static const Types types = types_of_module("jbd2");
  return types.get();
}

// Of the function that a tracepoint calls; nullptr where there is none.
const btf_type* type_of(std::string_view hook) {
  const std::string name = std::string(kOfTracepoint) + std::string(hook);
  for (const btf* types : {kernel_types(), ext4_types(), journal_types()}) {
    const int found =
        types == nullptr ? -1 : btf__find_by_name_kind(types, name.c_str(), BTF_KIND_TYPEDEF);
    if (found < 0) continue;
    const btf_type* type = btf__type_by_id(types, static_cast<std::uint32_t>(found));
    for (int i = 0; i < 2 && type != nullptr; ++i)  // a name of a pointer to a function
      type = btf__type_by_id(types, type->type);
    return type;
  }
  return nullptr;
}

}  // namespace

Status read_kernel_types() {
  if (path_exists(kKernelTypes) && kernel_types() != nullptr) return {};
  return Error{Code::kUnsupported,
               std::string("this kernel does not describe its types (") + kKernelTypes + ")", ""};
}

bool has_function(const std::string& name) {
  return btf__find_by_name_kind(kernel_types(), name.c_str(), BTF_KIND_FUNC) >= 0;
}

bool has_tracepoint(std::string_view hook) { return type_of(hook) != nullptr; }

std::vector<std::string> kernel_tracepoints() {
  std::vector<std::string> names;
  for (const btf* types : {kernel_types(), ext4_types()}) {
    const std::uint32_t count = types == nullptr ? 0 : btf__type_cnt(types);
    for (std::uint32_t i = 1; i < count; ++i) {
      const btf_type* type = btf__type_by_id(types, i);
      if (type == nullptr || !btf_is_typedef(type)) continue;
      const std::string_view name = btf__name_by_offset(types, type->name_off);
      if (name.starts_with(kOfTracepoint)) names.emplace_back(name.substr(kOfTracepoint.size()));
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

int arguments_of(std::string_view hook) {
  const btf_type* type = type_of(hook);
  return type == nullptr || !btf_is_func_proto(type) ? -1 : btf_vlen(type) - 1;  // one is ours
}

bool has_structure(const char* name) {
  return btf__find_by_name_kind(kernel_types(), name, BTF_KIND_STRUCT) >= 0;
}

}  // namespace fathom::sources::ebpf

// SPDX-License-Identifier: MIT
// Looks tracepoints up in the kernel's BTF before anything is loaded, so that a hook which this
// kernel lacks can be left out and named.
#include "sources/ebpf/kernel_types.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/files.h"

namespace fathom::sources::ebpf {
namespace {

constexpr char kKernelTypes[] = "/sys/kernel/btf/vmlinux";
constexpr std::string_view kOfTracepoint = "btf_trace_";

struct FreeTypes {
  void operator()(btf* types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, FreeTypes>;

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

// The functions that tracepoints call, by the names of these. A search through all types would take
// as long as to read them once.
using Tracepoints = std::unordered_map<std::string_view, const btf_type*>;

void add_tracepoints(const btf* types, std::uint32_t first, Tracepoints& all) {
  const std::uint32_t count = types == nullptr ? 0 : btf__type_cnt(types);
  for (std::uint32_t i = first; i < count; ++i) {
    const btf_type* type = btf__type_by_id(types, i);
    if (type == nullptr || !btf_is_typedef(type)) continue;
    const std::string_view name = btf__name_by_offset(types, type->name_off);
    if (!name.starts_with(kOfTracepoint)) continue;
    for (int step = 0; step < 2 && type != nullptr; ++step)  // a name of a pointer to a function
      type = btf__type_by_id(types, type->type);
    all.emplace(name.substr(kOfTracepoint.size()), type);
  }
}

const Tracepoints& tracepoints() {
  static const Tracepoints kAll = [] {
    Tracepoints all;
    add_tracepoints(kernel_types(), 1, all);
    // Types of a module go on where the kernel's end.
    const std::uint32_t first = kernel_types() == nullptr ? 1 : btf__type_cnt(kernel_types());
    add_tracepoints(ext4_types(), first, all);
    add_tracepoints(journal_types(), first, all);
    return all;
  }();
  return kAll;
}

// Of the function that a tracepoint calls; nullptr where there is none.
const btf_type* type_of(std::string_view hook) {
  const auto found = tracepoints().find(hook);
  return found == tracepoints().end() ? nullptr : found->second;
}

}  // namespace

const btf* kernel_types() {
  static const Types types(btf__load_vmlinux_btf());
  return types.get();
}

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
  for (const auto& [name, type] : tracepoints()) names.emplace_back(name);
  std::ranges::sort(names);
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

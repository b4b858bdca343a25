// SPDX-License-Identifier: MIT
// The part of the kernel's types that a module's programs name. Where fields lie in them is looked
// up when a module is loaded, and each name is looked for among all types that there are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/files.h"
#include "sources/ebpf/modules.h"

struct btf;

namespace fathom::sources::ebpf {

// Names of structures and unions of the kernel in these types, without what tells versions apart
// (task_struct___old).
std::unordered_set<std::string> kernel_names_in(const btf* types);

// Those of `types` that have these names, each once, with all that lies inside of them; what they
// only point to is left out. Empty where one of the names has no type.
std::vector<std::uint32_t> types_named(const btf* types,
                                       const std::unordered_set<std::string>& names);

// A file without a name that holds what these programs need. Not valid where they name what the
// kernel itself has not got (types of modules are their own), or there is no room for it: then all
// types have to be looked through.
Fd small_types(const Programs& code);

}  // namespace fathom::sources::ebpf

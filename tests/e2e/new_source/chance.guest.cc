// SPDX-License-Identifier: MIT
// Layer chance: numbers that the program draws.
#include "guest/binding.h"
#include "guest/call.h"

namespace fathom::guest::chance {

#define FATHOM_TABLE "sources/chance/chance.calls.h"
#define FATHOM_TABLE_SOURCE CHANCE
#define FATHOM_TABLE_HOOKS
#include "guest/call_table.inc"

extern const Bindings kBindings;
const Bindings kBindings{bindings, std::extent_v<decltype(bindings)>, nullptr, fill_bindings};

}  // namespace fathom::guest::chance

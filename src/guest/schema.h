// SPDX-License-Identifier: MIT
// The text that describes the kinds of events (docs/formats/spool.md, "Calls"), assembled by the
// compiler from the tables of calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest {

const char* schema_text();
size_t schema_length();
uint64_t schema_hash();
bool is_chosen_by_name(unsigned kind);  // FATHOM_CALLS is about it

}  // namespace fathom::guest

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
const char* name_of_kind(uint16_t kind);  // the plain name, "" where there is none

}  // namespace fathom::guest

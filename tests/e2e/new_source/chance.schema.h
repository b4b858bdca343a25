// SPDX-License-Identifier: MIT
// Source chance's part of the schema.
#pragma once

#include "guest/schema_text.h"

namespace fathom::guest::chance {

#define FATHOM_TABLE "sources/chance/chance.calls.h"
#define FATHOM_TABLE_SOURCE CHANCE
#include "guest/call_table.inc"

constexpr void put_schema(SchemaWriter& writer) {
  for (const Spec* spec : kSpecs) writer.put_call(*spec);
}

}  // namespace fathom::guest::chance

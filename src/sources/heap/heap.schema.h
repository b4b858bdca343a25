// SPDX-License-Identifier: MIT
// Source heap's part of the schema: calls that are added up.
#pragma once

#include "guest/schema_text.h"

namespace fathom::guest::heap {

#define FATHOM_TABLE "sources/heap/heap.calls.h"
#define FATHOM_TABLE_SOURCE HEAP
#include "guest/call_table.inc"

constexpr void put_schema(SchemaWriter& writer) {
  for (const Spec* spec : kSpecs) writer.put_summed(*spec);
}

}  // namespace fathom::guest::heap

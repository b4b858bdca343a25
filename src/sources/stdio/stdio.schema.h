// SPDX-License-Identifier: MIT
// Source stdio's part of the schema.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "guest/schema_text.h"

namespace fathom::guest::stdio {

#define FATHOM_TABLE "sources/stdio/stdio.calls.h"
#define FATHOM_TABLE_SOURCE STDIO
#include "guest/call_table.inc"

constexpr void put_schema(SchemaWriter& writer) {
  for (const Spec* spec : kSpecs) writer.put_call(*spec);
}

}  // namespace fathom::guest::stdio

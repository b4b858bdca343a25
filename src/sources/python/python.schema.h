// SPDX-License-Identifier: MIT
// Source python's part of the schema: kinds whose name stands in the record, as a site.
#pragma once

#include "guest/schema_text.h"

namespace fathom::guest::python {

enum : unsigned { kFunction = FATHOM_FIRST_PYTHON_KIND, kLoop, kTurn, kResumedLoop };

constexpr void put_schema(SchemaWriter& writer) {
  constexpr const SourceRow& row = row_of(FATHOM_SOURCE_PYTHON);
  writer.put_named(kFunction, row.source, row.layer, "-", "site", "arguments");
  writer.put_named(kLoop, row.source, row.layer, "loop", "site arg:iterations:int");
  writer.put_named(kResumedLoop, row.source, row.layer, "loop",
                   "site arg:iterations:int arg:resumed:int");
  writer.put_named(kTurn, row.source, row.layer, "turn", "site arg:turn:int");
}

}  // namespace fathom::guest::python

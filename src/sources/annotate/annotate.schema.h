// SPDX-License-Identifier: MIT
// Source annotate's part of the schema: none, since the format itself knows regions, marks and
// counters (wire/record.h).
#pragma once

#include "guest/schema_text.h"

namespace fathom::guest::annotate {

constexpr void put_schema(SchemaWriter& /*writer*/) {}

}  // namespace fathom::guest::annotate

// SPDX-License-Identifier: MIT
// Source posix's part of the schema.
#pragma once

#include <aio.h>
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "guest/schema_text.h"

namespace fathom::guest::posix {

#define FATHOM_TABLE "sources/posix/posix.calls.h"
#define FATHOM_TABLE_SOURCE POSIX
#include "guest/call_table.inc"

constexpr void put_schema(SchemaWriter& writer) {
  for (const Spec* spec : kSpecs) writer.put_call(*spec);
}

}  // namespace fathom::guest::posix

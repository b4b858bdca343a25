// SPDX-License-Identifier: MIT
// Source cuda's part of the schema: names of the driver's errors, its calls, and the copies of
// CUDA's run-time library above them.
#pragma once

#include "sources/cuda/results.guest.h"
#include "sources/cuda/spec.guest.h"
#include "sources/runtime_copies.guest.h"

namespace fathom::guest::cuda {

#define FATHOM_TABLE "sources/cuda/cuda.calls.h"
#define FATHOM_TABLE_SOURCE CUDA
#include "guest/call_table.inc"

constexpr void put_schema(SchemaWriter& writer) {
  for (const ResultName& result : kResults)
    writer.put_error("cuda", result.number, kResultPrefix, result.name);
  for (const Spec* spec : kSpecs) put_schema(writer, *spec);
  put_runtime_copies(writer);
}

}  // namespace fathom::guest::cuda

// SPDX-License-Identifier: MIT
// Copies of CUDA's run-time library, above those of the driver: Alnair's logs have rows for them.
// They are of source cuda, which declares them, and recorded by sources/alnair.
#pragma once

#include "guest/schema_text.h"

namespace fathom::guest {

struct RuntimeCopy {
  const char* name;
  const char* entry;
};

// Their kinds are those from FATHOM_FIRST_RUNTIME_KIND on.
constexpr void put_runtime_copies(SchemaWriter& writer) {
  constexpr RuntimeCopy kCopies[] = {
      {"cudaMemcpy", "cudaMemcpy"},
      {"cudaMemcpy", "cudaMemcpy_ptds"},
      {"cudaMemcpyAsync", "cudaMemcpyAsync"},
      {"cudaMemcpyAsync", "cudaMemcpyAsync_ptsz"},
  };
  unsigned kind = FATHOM_FIRST_RUNTIME_KIND;
  for (const RuntimeCopy& copy : kCopies) {
    writer.put_number(kind++);
    writer.put('\t');
    writer.put_number(FATHOM_SOURCE_CUDA);
    for (const char* column :
         {"cuda", copy.name, copy.entry, "runtime", "errors=cuda", "size", "arg:kind:int"}) {
      writer.put('\t');
      writer.put(column);
    }
    writer.put('\n');
  }
}

}  // namespace fathom::guest

// SPDX-License-Identifier: MIT
// The two smallest records of the runtime, out of line because they are seldom written.
#include "guest/records.h"

namespace fathom::guest {

void write_timed(unsigned kind) {
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  writer.commit(put_timed_head(kind, 0, tick()));
}

void write_id(unsigned kind, uint32_t id) {
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  writer.commit(fathom_put_varint(put_head(tls.cursor.at, kind), id));
}

}  // namespace fathom::guest

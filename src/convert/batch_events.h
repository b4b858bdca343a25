// SPDX-License-Identifier: MIT
// Rows as they are decoded, as what writers of other formats take.
#pragma once

#include <cstddef>
#include <vector>

#include "render/export/event_stream.h"
#include "trace/rows/batch.h"

namespace fathom::convert {

inline render::ExportNumber number_or_null(std::int64_t value) {
  return value == trace::kNull ? render::ExportNumber() : render::ExportNumber(value);
}
inline render::ExportNumber number_or_null32(std::int32_t value) {
  return value == trace::kNull32 ? render::ExportNumber() : render::ExportNumber(value);
}

// Refers to the strings and to `args`, which the caller owns and keeps from row to row for its
// memory: valid until the next call with them.
inline render::ExportEvent event_of(const trace::EventBatch& events, std::size_t row,
                                    const trace::Strings& strings,
                                    std::vector<render::ExportArg>& args) {
  render::ExportEvent event;
  event.ts = events.ts[row];
  event.dur = events.dur[row];
  event.pid = number_or_null32(events.pid[row]);
  event.tid = number_or_null32(events.tid[row]);
  event.depth = number_or_null32(events.depth[row]);
  event.fd = number_or_null32(events.fd[row]);
  event.offset = number_or_null(events.offset[row]);
  event.size = number_or_null(events.size[row]);
  event.bytes = number_or_null(events.bytes[row]);
  event.ret = number_or_null(events.ret[row]);
  event.layer = strings.view(events.layer[row]);
  event.name = strings.view(events.name[row]);
  event.entry = strings.view(events.entry[row]);
  event.category = strings.view(events.category[row]);
  event.file = strings.view(events.file[row]);
  event.error = strings.view(events.error[row]);
  args.clear();
  for (std::size_t at = events.args.begin(row); at < events.args.end(row); at++)
    args.emplace_back(strings.view(events.args.key(at)), events.args.value(at));
  event.args = args;
  return event;
}

}  // namespace fathom::convert

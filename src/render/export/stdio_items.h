// SPDX-License-Identifier: MIT
// What fread and fwrite moved, in the words of DFTracer: items and their size where these say the
// same as the bytes, else single bytes.
#pragma once

#include <cstdint>

#include "render/export/event_stream.h"

namespace fathom::render {

struct StdioItems {
  std::int64_t size = 1;
  ExportNumber count, ret;
};

inline bool counts_items(const ExportEvent& event) {
  return event.layer == "stdio" &&
         (event.name.starts_with("fread") || event.name.starts_with("fwrite"));
}

inline StdioItems items_of(const ExportEvent& event) {
  const std::int64_t bytes = event.bytes.value_or(0);
  const std::int64_t ret = event.ret.value_or(0);
  StdioItems items{.size = 1, .count = event.size, .ret = event.bytes ? event.bytes : event.ret};
  if (!event.bytes || ret <= 0 || bytes <= 0 || bytes % ret != 0) return items;
  const std::int64_t size = bytes / ret;
  if (event.size && *event.size % size != 0) return items;
  items = {.size = size, .count = event.size, .ret = event.ret};
  if (event.size) items.count = *event.size / size;
  return items;
}

}  // namespace fathom::render

// SPDX-License-Identifier: MIT
// Numbers and texts as the spool's files hold them (docs/formats/spool.md): the other half of
// ByteReader. Included by .cc files of this room only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/record.h"
#include "wire/spool.h"
#include "wire/varint.h"

namespace fathom::trace {

template <class T>
void put_raw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_number(std::string& out, std::uint64_t value) {
  std::uint8_t buffer[FATHOM_VARINT_SLACK + 8];
  const std::uint8_t* end = fathom_put_varint(buffer, value);
  out.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
}

inline void put_signed(std::string& out, std::int64_t value) {
  put_number(out, fathom_zigzag(value));
}

// What is longer than any text may be is cut.
inline void put_text(std::string& out, std::string_view text) {
  text = text.substr(0, FATHOM_TEXT_MAX);
  put_number(out, text.size());
  out.append(text);
}

}  // namespace fathom::trace

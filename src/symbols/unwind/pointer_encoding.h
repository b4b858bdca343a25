// SPDX-License-Identifier: MIT
// Addresses as .eh_frame writes them: some size, counted from somewhere.
#pragma once

#include <dwarf.h>

#include <cstdint>
#include <optional>

#include "symbols/byte_reader.h"

namespace fathom::symbols {

// `section` is the address of the first of the reader's bytes. nullopt: an encoding that tables of
// functions do not use, or the end.
[[nodiscard]] inline std::optional<std::uint64_t> read_pointer(ByteReader& reader,
                                                               std::uint8_t encoding,
                                                               std::uint64_t section) {
  const std::uint64_t here = section + reader.at();
  std::uint64_t value = 0;
  switch (encoding & 0x0fU) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      value = reader.number<std::uint64_t>();
      break;
    case DW_EH_PE_uleb128:
      value = reader.uleb();
      break;
    case DW_EH_PE_sleb128:
      value = static_cast<std::uint64_t>(reader.sleb());
      break;
    case DW_EH_PE_udata2:
      value = reader.number<std::uint16_t>();
      break;
    case DW_EH_PE_sdata2:
      value = static_cast<std::uint64_t>(std::int64_t{reader.number<std::int16_t>()});
      break;
    case DW_EH_PE_udata4:
      value = reader.number<std::uint32_t>();
      break;
    case DW_EH_PE_sdata4:
      value = static_cast<std::uint64_t>(std::int64_t{reader.number<std::int32_t>()});
      break;
    default:
      return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  switch (encoding & 0x70U) {
    case DW_EH_PE_absptr:
      return value;
    case DW_EH_PE_pcrel:
      return value + here;
    default:
      return std::nullopt;
  }
}

}  // namespace fathom::symbols

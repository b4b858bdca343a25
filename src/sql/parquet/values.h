// SPDX-License-Identifier: MIT
// The values of a leaf of one row group, NULLs left out, in the encoding that suits them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/parquet/format.h"

namespace fathom::sql::parquet {

// The bytes of a page, and what the footer says of them. Bounds are absent where there are no
// values, or they would be long.
struct EncodedValues {
  Encoding encoding = Encoding::kPlain;
  std::string bytes;
  std::string dictionary;  // plain; used where the encoding is kDictionary
  std::size_t members = 0;
  std::optional<std::string> least;
  std::optional<std::string> most;
};

EncodedValues encode_numbers(std::span<const std::int32_t> values);
EncodedValues encode_numbers(std::span<const std::int64_t> values);
EncodedValues encode_doubles(std::span<const double> values);
EncodedValues encode_texts(std::span<const std::string_view> texts);

// Texts by their codes in a long dictionary, of which a row group uses few. Kept from row group to
// row group, for its memory.
class CodeEncoder {
 public:
  // Codes lie inside `texts`.
  EncodedValues encode(std::span<const std::uint32_t> codes,
                       std::span<const std::string_view> texts);

 private:
  std::vector<std::uint32_t> member_of_code_;  // kNone but while encode() runs
  std::vector<std::uint32_t> members_;
};

}  // namespace fathom::sql::parquet

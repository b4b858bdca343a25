// SPDX-License-Identifier: MIT
// Putting names and texts into SQL.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fathom::sql {

std::string quote_identifier(std::string_view name);  // a"b -> "a""b"
std::string quote_literal(std::string_view text);     // it's -> 'it''s'

// ['a', 'b'], for read_parquet and allowed_directories.
std::string quote_list(std::span<const std::string> texts);

}  // namespace fathom::sql

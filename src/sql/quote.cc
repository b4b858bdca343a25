// SPDX-License-Identifier: MIT
// Quoting is doubling the mark, for DuckDB as for standard SQL. Values of users should be
// parameters; this is for names and for lists of files.
#include "sql/quote.h"

namespace fathom::sql {

namespace {

std::string quoted(std::string_view text, char mark) {
  std::string out;
  out.reserve(text.size() + 2);
  out += mark;
  for (const char c : text) {
    if (c == mark) out += mark;
    out += c;
  }
  out += mark;
  return out;
}

}  // namespace

std::string quote_identifier(std::string_view name) { return quoted(name, '"'); }

std::string quote_literal(std::string_view text) { return quoted(text, '\''); }

std::string quote_list(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += quote_literal(text);
  }
  return out + "]";
}

}  // namespace fathom::sql

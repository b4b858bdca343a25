// SPDX-License-Identifier: MIT
// Fields of JSON that may be missing or of another type, as whoever reads files of other tools
// needs them. Apart from its header, since simdjson is slow to compile and few files want more of
// it.
#include "analysis/json_fields.h"

#include <simdjson.h>

#include <cmath>

namespace fathom::analysis {

std::optional<double> number_in(const simdjson::dom::object& from, std::string_view key) {
  double value = 0;
  if (from[key].get(value) != simdjson::SUCCESS || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string text_in(const simdjson::dom::object& from, std::string_view key) {
  std::string_view text;
  return from[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

}  // namespace fathom::analysis

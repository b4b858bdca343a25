// SPDX-License-Identifier: MIT
// A number with its noun, as people write it: "1 file", "2 files", "3 processes". Every sentence
// that counts something is built with these, so that none says "1 files".
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/text.h"

namespace fathom {

// The plural of a noun, of a phrase that ends with one ("damaged line"), or of a noun with more
// behind it ("event of phase s", "row without a name").
[[nodiscard]] inline std::string plural_of(std::string_view noun) {
  for (const std::string_view link : {" of ", " without "}) {
    const std::size_t at = noun.find(link);
    if (at != std::string_view::npos)
      return plural_of(noun.substr(0, at)) + std::string(noun.substr(at));
  }
  const auto ends_with_any = [&](std::initializer_list<std::string_view> endings) {
    for (const std::string_view ending : endings) {
      if (noun.ends_with(ending)) return true;
    }
    return false;
  };
  if (ends_with_any({"s", "x", "ch", "sh"})) return std::string(noun) + "es";
  if (noun.ends_with('y') && !ends_with_any({"ay", "ey", "oy", "uy"}))
    return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  return std::string(noun) + "s";
}

// All digits: "1 event", "134221 events".
template <std::integral Number>
[[nodiscard]] std::string counted(Number count, std::string_view noun) {
  return std::to_string(count) + " " + (count == 1 ? std::string(noun) : plural_of(noun));
}

// Three digits: "1 event", "134 k events".
[[nodiscard]] inline std::string counted_roughly(double count, std::string_view noun) {
  const std::string text = human_count(count);
  return text + " " + (text == "1" ? std::string(noun) : plural_of(noun));
}

}  // namespace fathom

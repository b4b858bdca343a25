// SPDX-License-Identifier: MIT
// What the first bytes of a JSON text tell about its format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::analysis {

// A look at the first bytes, not a parser: enough to choose an importer, which then finds out
// whether the text is sound. `text` is the caller's.
struct JsonHead {
  enum class Kind : std::uint8_t { kNone, kObject, kArray };
  Kind kind = Kind::kNone;
  bool comma_after_object = false;  // behind the first object of an array
  std::string_view text;

  // Whether a key of that name occurs.
  [[nodiscard]] bool names(std::string_view key) const;
};

[[nodiscard]] JsonHead json_head(std::string_view head);

}  // namespace fathom::analysis

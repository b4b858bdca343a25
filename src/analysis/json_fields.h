// SPDX-License-Identifier: MIT
// Fields of JSON that others wrote: what is missing, or is of another kind, is simply not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace simdjson::dom {
class object;
}

namespace fathom::analysis {

[[nodiscard]] std::optional<double> number_in(const simdjson::dom::object& from,
                                              std::string_view key);
// "" where there is none.
[[nodiscard]] std::string text_in(const simdjson::dom::object& from, std::string_view key);

}  // namespace fathom::analysis

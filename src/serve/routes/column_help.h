// SPDX-License-Identifier: MIT
// What the columns of SQL mean, in the words of docs/formats/recording.md, which the build puts
// into the program: they stand there and nowhere else.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fathom::serve {

struct ContractText {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const ContractText> contract_texts();

// "" where the page says nothing of it.
[[nodiscard]] std::string column_help(std::string_view view, std::string_view column);

}  // namespace fathom::serve

// SPDX-License-Identifier: MIT
// DuckDB tells errors as text with several lines. Their kinds are told apart by the words that they
// begin with, and a suggestion in a later line becomes the hint.
#include "sql/engine_error.h"

#include <algorithm>
#include <string>

namespace fathom::sql {

namespace {

struct KindOfError {
  std::string_view prefix;
  Code code;
};

constexpr KindOfError kKinds[] = {
    {"IO Error", Code::kIo},
    {"Permission Error", Code::kDenied},
    {"Invalid Input Error: Cannot change configuration", Code::kDenied},
};

Code code_of(std::string_view message) {
  for (const KindOfError& kind : kKinds) {
    if (message.starts_with(kind.prefix)) return kind.code;
  }
  return Code::kInvalid;
}

constexpr std::string_view kOfData[] = {"Invalid Error:", "Invalid Input Error:",
                                        "Serialization Error:", "INTERNAL Error:", "FATAL Error:"};

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

std::string_view without_final_mark(std::string_view line) {
  while (!line.empty() && (line.back() == '.' || line.back() == '!')) line.remove_suffix(1);
  return line;
}

}  // namespace

Error engine_error(std::string_view text) {
  Error error{Code::kInvalid, "", ""};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    // What follows is the statement and a caret under it.
    if (line.starts_with("LINE ")) break;
    if (line.empty()) continue;
    if (error.message.empty()) {
      error.code = code_of(line);
      error.message = without_final_mark(line);
    } else if (error.hint.empty()) {
      error.hint = line;
    }
  }
  if (error.message.empty()) error.message = "DuckDB failed and did not say why";
  return error;
}

bool may_be_of_data(const Error& error) {
  const auto begins = [&](std::string_view kind) { return error.message.starts_with(kind); };
  return error.code == Code::kInvalid && std::ranges::any_of(kOfData, begins);
}

}  // namespace fathom::sql

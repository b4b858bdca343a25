// SPDX-License-Identifier: MIT
// The head of a request as plain values, and words of HTTP that clients and servers share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::fleet {

struct HttpHeader {
  std::string name;
  std::string value;
};

// Whether two texts are the same in ASCII letters of any case.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);
// With ASCII letters in lower case.
[[nodiscard]] std::string small_letters(std::string_view text);

// The value of the first such header, in any case; "" where there is none.
[[nodiscard]] std::string_view value_of(const std::vector<HttpHeader>& headers,
                                        std::string_view name);

// A request before its body.
struct HttpHead {
  std::string method;
  std::string target;  // as it came
  std::vector<HttpHeader> headers;

  [[nodiscard]] std::string_view header(std::string_view name) const {
    return value_of(headers, name);
  }
  // How many such headers there are: where one is expected, two are a trick.
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

// "Not Found"
[[nodiscard]] std::string_view status_words(int status);

}  // namespace fathom::fleet

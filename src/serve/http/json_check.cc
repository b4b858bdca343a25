// SPDX-License-Identifier: MIT
// A pass by events that keeps nothing, so that it takes no memory whatever it is given.
#include "serve/http/json_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace fathom::serve {
namespace {

using Json = nlohmann::json;

class Checker : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    fault_ = fmt::format("not JSON at byte {}", position);
    return false;
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  bool open() {
    if (++depth_ <= kDeepestJson) return true;
    fault_ = fmt::format("brackets are more than {} deep", kDeepestJson);
    return false;
  }
  bool close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::string fault_ = "not JSON";
};

}  // namespace

Status check_json(std::string_view text) {
  Checker checker;
  if (Json::sax_parse(text.begin(), text.end(), &checker)) return {};
  return Error{Code::kInvalid, checker.fault(), ""};
}

}  // namespace fathom::serve

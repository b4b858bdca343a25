// SPDX-License-Identifier: MIT
// SHA-256 of bytes that come in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fathom::fleet {

// One thread at a time. Nothing may be added after hex().
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  [[nodiscard]] std::string hex();  // 64 digits; the end of it

  // 64 lower-case digits.
  [[nodiscard]] static bool is_hex(std::string_view text);

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// Appends to one string without an intermediate tree: exports write tens of millions of lines.
#include "render/export/json_fields.h"

#include <cmath>

namespace fathom::render {

// A quoted text that a colon follows is a key: quotes inside of values are escaped.
std::string& JsonFields::argument(std::string_view name) {
  std::string quoted;
  append_quoted(quoted, name);
  const bool taken = out_->find(quoted + ':', begin_) != std::string::npos;
  return key(taken ? "arg " + std::string(name) : name);
}

void append_real(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char room[32];
  out.append(room, std::to_chars(room, room + sizeof room, number).ptr);
}

void append_us(std::string& out, std::int64_t ns) {
  constexpr std::uint64_t kPerUs = 1000;
  if (ns < 0) out += '-';
  const std::uint64_t size =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  append_number(out, static_cast<std::int64_t>(size / kPerUs));
  const std::uint64_t rest = size % kPerUs;
  if (rest == 0) return;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

void append_ms(std::string& out, std::int64_t ns) {
  constexpr std::uint64_t kPerMs = 1'000'000;
  if (ns < 0) out += '-';
  const std::uint64_t size =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  append_number(out, static_cast<std::int64_t>(size / kPerMs));
  std::uint64_t rest = size % kPerMs;
  if (rest == 0) return;
  out += '.';
  for (std::uint64_t digit = kPerMs / 10; rest > 0; digit /= 10) {
    out += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
}

}  // namespace fathom::render

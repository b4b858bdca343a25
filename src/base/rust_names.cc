// SPDX-License-Identifier: MIT
// Two readers: one for "_ZN…17h<hash>E", one for "_R…". The second follows the grammar of RFC 2603;
// a name may refer back into itself, so what it prints and how deep it goes are bounded.
#include "base/rust_names.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMostOutput = 1U << 16U;
constexpr int kMostDepth = 192;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

void append_utf8(std::uint32_t code, std::string& text) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0U | (code >> 6U));
    add(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    add(0xe0U | (code >> 12U));
    add(0x80U | ((code >> 6U) & 0x3fU));
    add(0x80U | (code & 0x3fU));
  } else {
    add(0xf0U | (code >> 18U));
    add(0x80U | ((code >> 12U) & 0x3fU));
    add(0x80U | ((code >> 6U) & 0x3fU));
    add(0x80U | (code & 0x3fU));
  }
}

// ---- the older scheme

// "$LT$" is '<'; nullopt: no such word.
std::optional<std::string> legacy_escape(std::string_view word) {
  constexpr std::pair<std::string_view, char> kWords[] = {
      {"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
      {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','},
  };
  for (const auto& [name, sign] : kWords)
    if (word == name) return std::string(1, sign);
  std::uint32_t code = 0;
  const char* const end = word.data() + word.size();
  if (!word.starts_with('u') || word.size() > 7) return std::nullopt;
  const auto read = std::from_chars(word.data() + 1, end, code, 16);
  if (read.ec != std::errc() || read.ptr != end || code < 0x20 || code > 0x10ffff)
    return std::nullopt;
  std::string text;
  append_utf8(code, text);
  return text;
}

void append_legacy(std::string_view part, std::string& text) {
  if (part.starts_with("_$")) part.remove_prefix(1);
  while (!part.empty()) {
    if (part.starts_with("..")) {
      text += "::";
      part.remove_prefix(2);
      continue;
    }
    const std::size_t end = part[0] == '$' ? part.find('$', 1) : std::string_view::npos;
    const auto sign =
        end == std::string_view::npos ? std::nullopt : legacy_escape(part.substr(1, end - 1));
    text += sign ? *sign : std::string(1, part[0]);
    part.remove_prefix(sign ? end + 1 : 1);
  }
}

// As C++ has it, a list of lengths and names, with signs spelled out and a hash at the end, by
// which it is known from C++.
std::optional<std::string> legacy(std::string_view name) {
  constexpr std::size_t kHash = 17;
  name.remove_prefix(3);
  std::vector<std::string_view> parts;
  while (!name.empty() && is_digit(name[0])) {
    std::size_t size = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), size);
    name.remove_prefix(static_cast<std::size_t>(read.ptr - name.data()));
    if (read.ec != std::errc() || size == 0 || size > name.size()) return std::nullopt;
    parts.push_back(name.substr(0, size));
    name.remove_prefix(size);
  }
  if (parts.size() < 2 || !name.starts_with('E')) return std::nullopt;
  const std::string_view hash = parts.back();
  if (hash.size() != kHash || hash[0] != 'h' || !std::ranges::all_of(hash.substr(1), is_hex))
    return std::nullopt;
  parts.pop_back();
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty()) text += "::";
    append_legacy(part, text);
  }
  return text;
}

// ---- v0

// Reads and prints at once, by descent: each function stands for a rule of the grammar and is
// called at its first letter. After the first thing that does not fit, ok_ is false for good and
// nothing is printed any more.
class V0 {
 public:
  explicit V0(std::string_view name) : name_(name) {}

  std::optional<std::string> run() {
    path(true, 0);
    if (!ok_ || text_.empty()) return std::nullopt;
    return std::move(text_);
  }

 private:
  // ---- reading

  char next() {
    if (at_ >= name_.size()) ok_ = false;
    return ok_ ? name_[at_++] : '\0';
  }
  [[nodiscard]] char peek() const { return at_ < name_.size() ? name_[at_] : '\0'; }
  bool eat(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  // "_" is 0, "0_" is 1: what is written is one less.
  std::uint64_t base62() {
    if (eat('_')) return 0;
    std::uint64_t value = 0;
    while (ok_) {
      const char c = next();
      if (c == '_') return value + 1;
      std::uint64_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<std::uint64_t>(c - '0');
      } else if (c >= 'a' && c <= 'z') {
        digit = static_cast<std::uint64_t>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'Z') {
        digit = static_cast<std::uint64_t>(c - 'A') + 36;
      } else {
        ok_ = false;
      }
      if (value > (~std::uint64_t{0} - digit) / 62 - 1) ok_ = false;
      value = value * 62 + digit;
    }
    return 0;
  }
  std::uint64_t optional_62(char tag) { return eat(tag) ? base62() + 1 : 0; }

  std::string identifier() {
    const bool is_punycode = eat('u');
    std::size_t size = 0;
    if (!is_digit(peek())) ok_ = false;
    if (!eat('0')) {
      while (is_digit(peek()) && size <= name_.size())
        size = size * 10 + static_cast<std::size_t>(next() - '0');
    }
    (void)eat('_');
    if (!ok_ || size > name_.size() - at_) {
      ok_ = false;
      return "";
    }
    const std::string_view raw = name_.substr(at_, size);
    at_ += size;
    return is_punycode ? punycode(raw) : std::string(raw);
  }

  // RFC 3492, with '_' in the place of '-'.
  std::string punycode(std::string_view raw) {
    const std::size_t border = raw.rfind('_');
    const std::string_view plain =
        border == std::string_view::npos ? std::string_view() : raw.substr(0, border);
    std::string_view left = border == std::string_view::npos ? raw : raw.substr(border + 1);
    std::vector<std::uint32_t> codes(plain.begin(), plain.end());
    std::uint64_t code = 128;
    std::uint64_t place = 0;
    std::uint64_t bias = 72;
    while (!left.empty() && ok_) {
      std::uint64_t delta = 0;
      std::uint64_t weight = 1;
      for (std::uint64_t k = 36; ok_; k += 36) {
        if (left.empty()) return ok_ = false, "";
        const char c = left[0];
        left.remove_prefix(1);
        const bool is_letter = c >= 'a' && c <= 'z';
        if (!is_letter && !is_digit(c)) return ok_ = false, "";
        const auto digit = static_cast<std::uint64_t>(is_letter ? c - 'a' : c - '0' + 26);
        delta += digit * weight;
        const std::uint64_t border_value = k <= bias ? 1 : std::min<std::uint64_t>(k - bias, 26);
        if (digit < border_value) break;
        weight *= 36 - border_value;
        if (weight > (1ULL << 32U) || delta > (1ULL << 32U)) return ok_ = false, "";
      }
      const std::uint64_t count = codes.size() + 1;
      bias = adapted(delta, count, place == 0 && code == 128);
      place += delta;
      code += place / count;
      place %= count;
      if (code > 0x10ffff || codes.size() > 4096) return ok_ = false, "";
      codes.insert(codes.begin() + static_cast<std::ptrdiff_t>(place),
                   static_cast<std::uint32_t>(code));
      ++place;
    }
    std::string text;
    for (const std::uint32_t one : codes) append_utf8(one, text);
    return text;
  }
  static std::uint64_t adapted(std::uint64_t delta, std::uint64_t count, bool is_first) {
    delta = is_first ? delta / 700 : delta / 2;
    delta += delta / count;
    std::uint64_t k = 0;
    for (; delta > 455; k += 36) delta /= 35;
    return k + 36 * delta / (delta + 38);
  }

  // ---- printing

  void print(std::string_view text) {
    if (!is_silent_) text_ += text;
    if (text_.size() > kMostOutput) ok_ = false;
  }

  // What is read elsewhere in the name, before this.
  // Only backwards: a name that leads forward could go round for ever. In what is not printed there
  // is no need to go.
  template <class Read>
  void back(Read read) {
    const std::size_t here = at_;
    const std::uint64_t target = base62();
    const std::size_t after = at_;
    if (target >= here - 1) ok_ = false;
    if (!ok_ || is_silent_) return;
    at_ = static_cast<std::size_t>(target);
    read();
    at_ = after;
  }

  bool is_too_deep(int depth) {
    if (depth > kMostDepth) ok_ = false;
    return !ok_;
  }

  void path(bool in_value, int depth) {
    if (is_too_deep(depth)) return;
    switch (next()) {
      case 'C':
        (void)optional_62('s');
        print(identifier());
        return;
      case 'M':
        impl_path(depth);
        print("<");
        type(depth + 1);
        return print(">");
      case 'X':
        impl_path(depth);
        [[fallthrough]];
      case 'Y':
        print("<");
        type(depth + 1);
        print(" as ");
        path(false, depth + 1);
        return print(">");
      case 'N':
        return nested(in_value, depth);
      case 'I':
        path(in_value, depth + 1);
        print(in_value ? "::<" : "<");
        arguments(depth);
        return print(">");
      case 'B':
        return back([&] { path(in_value, depth + 1); });
      default:
        ok_ = false;
    }
  }

  // Where an impl stands; nobody writes that.
  void impl_path(int depth) {
    (void)optional_62('s');
    const bool before = is_silent_;
    is_silent_ = true;
    path(false, depth + 1);
    is_silent_ = before;
  }

  void nested(bool in_value, int depth) {
    const char space = next();
    path(in_value, depth + 1);
    const std::uint64_t number = optional_62('s');
    const std::string name = identifier();
    if (space >= 'A' && space <= 'Z') {
      print("::{");
      print(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string(1, space));
      if (!name.empty()) print(":" + name);
      return print("#" + std::to_string(number) + "}");
    }
    if (space < 'a' || space > 'z') ok_ = false;
    if (!name.empty()) print("::" + name);
  }

  void arguments(int depth) {
    for (bool is_first = true; ok_ && !eat('E'); is_first = false) {
      if (!is_first) print(", ");
      argument(depth);
    }
  }
  void argument(int depth) {
    if (eat('L')) {
      lifetime(base62());
    } else if (eat('K')) {
      constant(depth + 1);
    } else {
      type(depth + 1);
    }
  }

  // Numbered from the innermost `for<>` outwards; printed by letters from the outermost on.
  void lifetime(std::uint64_t number) {
    if (number == 0) return print("'_");
    if (number > bound_) {
      ok_ = false;
      return;
    }
    const std::uint64_t depth = bound_ - number;
    print(depth < 26 ? std::string("'") + static_cast<char>('a' + depth)
                     : "'_" + std::to_string(depth));
  }

  template <class Inner>
  void bound(Inner inner) {
    const std::uint64_t count = optional_62('G');
    constexpr std::uint64_t kMostLifetimes = 64;
    if (count > kMostLifetimes) ok_ = false;
    if (!ok_) return;
    if (count > 0) print("for<");
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) print(", ");
      ++bound_;
      lifetime(1);
    }
    if (count > 0) print("> ");
    inner();
    bound_ -= count;
  }

  static std::string_view basic(char c) {
    constexpr std::string_view kNames[26] = {"i8",   "bool",  "char",  "f64", "str", "f32", "",
                                             "u8",   "isize", "usize", "",    "i32", "u32", "i128",
                                             "u128", "_",     "",      "",    "i16", "u16", "()",
                                             "...",  "",      "i64",   "u64", "!"};
    return c >= 'a' && c <= 'z' ? kNames[c - 'a'] : std::string_view();
  }

  void type(int depth) {
    if (is_too_deep(depth)) return;
    const char c = next();
    if (const std::string_view name = basic(c); !name.empty()) return print(name);
    switch (c) {
      case 'A':
      case 'S':
        print("[");
        type(depth + 1);
        if (c == 'A') {
          print("; ");
          constant(depth + 1);
        }
        return print("]");
      case 'T':
        return tuple(depth);
      case 'R':
      case 'Q':
        return reference(c == 'Q', depth);
      case 'P':
      case 'O':
        print(c == 'P' ? "*const " : "*mut ");
        return type(depth + 1);
      case 'F':
        return bound([&] { function(depth); });
      case 'D':
        return dynamic(depth);
      case 'B':
        return back([&] { type(depth + 1); });
      default:
        --at_;
        path(false, depth + 1);
    }
  }

  void tuple(int depth) {
    print("(");
    std::size_t count = 0;
    for (; ok_ && !eat('E'); ++count) {
      if (count > 0) print(", ");
      type(depth + 1);
    }
    print(count == 1 ? ",)" : ")");
  }

  void reference(bool is_mutable, int depth) {
    print("&");
    if (eat('L')) {
      const std::uint64_t number = base62();
      if (number != 0) {
        lifetime(number);
        print(" ");
      }
    }
    if (is_mutable) print("mut ");
    type(depth + 1);
  }

  void function(int depth) {
    if (eat('U')) print("unsafe ");
    if (eat('K')) {
      std::string abi = eat('C') ? "C" : identifier();
      std::ranges::replace(abi, '_', '-');
      print("extern \"" + abi + "\" ");
    }
    print("fn(");
    for (bool is_first = true; ok_ && !eat('E'); is_first = false) {
      if (!is_first) print(", ");
      type(depth + 1);
    }
    print(")");
    if (eat('u')) return;
    print(" -> ");
    type(depth + 1);
  }

  void dynamic(int depth) {
    print("dyn ");
    bound([&] {
      for (bool is_first = true; ok_ && !eat('E'); is_first = false) {
        if (!is_first) print(" + ");
        trait(depth);
      }
    });
    if (!eat('L')) {
      ok_ = false;
      return;
    }
    const std::uint64_t number = base62();
    if (number != 0) {
      print(" + ");
      lifetime(number);
    }
  }

  // Its named types stand among its arguments.
  void trait(int depth) {
    bool is_open = open_path(depth);
    while (ok_ && eat('p')) {
      print(is_open ? ", " : "<");
      is_open = true;
      print(identifier() + " = ");
      type(depth + 1);
    }
    if (is_open) print(">");
  }
  // Whether its list of arguments is still open: named types of a trait (Item = u8) go into the
  // same brackets.
  bool open_path(int depth) {
    if (is_too_deep(depth)) return false;
    if (eat('B')) {
      bool is_open = false;
      back([&] { is_open = open_path(depth + 1); });
      return is_open;
    }
    if (!eat('I')) {
      path(false, depth + 1);
      return false;
    }
    path(false, depth + 1);
    print("<");
    arguments(depth);
    return true;
  }

  void constant(int depth) {
    if (is_too_deep(depth)) return;
    if (eat('B')) return back([&] { constant(depth + 1); });
    const char kind = next();
    if (kind == 'p') return print("_");
    if (basic(kind).empty()) {
      ok_ = false;
      return;
    }
    if (eat('n')) print("-");
    std::string digits;
    while (is_hex(peek())) digits += next();
    if (!eat('_')) ok_ = false;
    std::uint64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.empty()) value = 0;
    if (!digits.empty() && read.ec != std::errc()) return print("0x" + digits);
    if (kind == 'b') return print(value == 0 ? "false" : "true");
    if (kind != 'c') return print(std::to_string(value));
    std::string sign;
    if (value <= 0x10ffff) append_utf8(static_cast<std::uint32_t>(value), sign);
    print("'" + sign + "'");
  }

  std::string_view name_;
  std::size_t at_ = 0;
  std::string text_;
  bool ok_ = true;
  bool is_silent_ = false;
  std::uint64_t bound_ = 0;  // lifetimes that are named around here
};

}  // namespace

std::optional<std::string> demangle_rust(std::string_view name) {
  if (name.starts_with("_R")) {
    name = name.substr(0, std::min(name.find('.'), name.size()));
    return V0(name.substr(2)).run();
  }
  return name.starts_with("_ZN") ? legacy(name) : std::nullopt;
}

}  // namespace fathom

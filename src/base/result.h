// SPDX-License-Identifier: MIT
// How host code reports failure: a value or an Error, never an exception of ours.
//
//   Result<File> open_log(std::string path) {
//     FATHOM_ASSIGN(File file, File::open(path));      // returns the Error to the caller, or goes
//     on FATHOM_TRY(file.write_all(kMagic)); return file;
//   }
//
// The vocabulary is that of std::expected, which g++ 12 and clang 14 do not both have.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace fathom {

enum class Code {
  kUsage,    // the command line is wrong: exit 2
  kInvalid,  // an input is not what it should be (bad SQL too)
  kNotFound,
  kIo,
  kCorrupt,      // a file is damaged
  kUnsupported,  // a version or a machine that we cannot serve
  kDenied,
  kExists,       // the name is taken
  kUnavailable,  // somebody else does not answer now; later they may
  kFull,         // there is no room for more
};

// Why something could not be done, as it is shown to the user. A value; whoever passes it on may
// put context in front.
struct Error {
  Code code = Code::kInvalid;
  std::string message;  // what is wrong, one line, no full stop
  std::string hint;     // what the user can do about it; may be empty

  // Puts context in front, going up: "open trace x: no such file".
  [[nodiscard]] Error with(const std::string& context) && {
    message = context + ": " + message;
    return std::move(*this);
  }
};

// The exit status of the program: 2 for what was typed wrongly, 3 for every other failure.
constexpr int exit_status(Code code) { return code == Code::kUsage ? 2 : 3; }

struct Unit {};

template <class T = Unit>
class [[nodiscard]] Result {
 public:
  Result() requires std::is_same_v<T, Unit> : state_(Unit{}) {}
  // Both convert by themselves, as with std::expected: `return value;` or `return error;`.
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<Unit>;

inline Error usage_error(std::string message, std::string hint = "") {
  return {Code::kUsage, std::move(message), std::move(hint)};
}

}  // namespace fathom

#define FATHOM_CONCAT_INNER(a, b) a##b
#define FATHOM_CONCAT(a, b) FATHOM_CONCAT_INNER(a, b)

#define FATHOM_TRY(expression)                                 \
  do {                                                         \
    if (auto outcome_ = (expression); !outcome_.has_value()) { \
      return std::move(outcome_).error();                      \
    }                                                          \
  } while (false)

#define FATHOM_ASSIGN(declaration, expression) \
  FATHOM_ASSIGN_INNER(FATHOM_CONCAT(outcome_, __LINE__), declaration, expression)
#define FATHOM_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                                \
  if (!name.has_value()) return std::move(name).error();   \
  declaration = std::move(name).value()

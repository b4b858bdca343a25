// SPDX-License-Identifier: MIT
// One object of Chrome's trace event format, in the dialects of Chrome, Kineto (PyTorch) and ours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::analysis {

struct ChromeArg {
  std::string_view key;
  std::string_view text;  // a text unescaped; numbers and what is nested as JSON
  bool is_number = false;
};

// The views are valid until the parser is used again.
struct ChromeEvent {
  char phase = 0;  // 0: none
  std::string_view name, category, id;
  std::string_view pid_text, tid_text;  // where they are no numbers
  std::optional<std::int64_t> pid, tid;
  std::optional<std::int64_t> ts;  // ns
  std::int64_t dur = 0;            // ns
  std::vector<ChromeArg> args;

  // "" where there is none.
  [[nodiscard]] std::string_view arg(std::string_view key) const;
};

// Keeps its memory from one object to the next. One thread at a time.
class ChromeParser {
 public:
  ChromeParser();
  ~ChromeParser();
  ChromeParser(const ChromeParser&) = delete;
  ChromeParser& operator=(const ChromeParser&) = delete;

  // `object` has LineReader::kPadding readable bytes behind it. False: it is no event.
  bool parse(std::string_view object, ChromeEvent& out);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// What the category says: our layer, and what is left of it.
struct ChromePlace {
  std::string_view layer;
  std::string_view category;
};
[[nodiscard]] ChromePlace place_of(std::string_view category);

}  // namespace fathom::analysis

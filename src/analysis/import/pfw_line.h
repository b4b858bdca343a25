// SPDX-License-Identifier: MIT
// One line of a `.pfw` file: a JSON object of DFTracer's or DataCrumbs' making, in any dialect.
// Numbers may stand in quotes, so all values are texts here; whoever needs a number asks for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::analysis {

enum class PfwKind : std::uint8_t { kComplete, kCounter, kMetadata, kOther };

struct PfwArg {
  std::string_view key;
  std::string_view text;  // a text unescaped, a number or anything nested as it stood; never a null
};

// The views are valid until the parser is used again.
struct PfwLine {
  PfwKind kind = PfwKind::kOther;
  std::string_view name;
  std::string_view category;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
  std::string_view ts;  // in the file's unit of time; "" where there is none
  std::string_view dur;
  std::vector<PfwArg> args;

  // nullptr when there is no such argument.
  [[nodiscard]] const PfwArg* find(std::string_view key) const;
};

// A whole number, or a fraction cut to one; nothing where it is neither or too large.
[[nodiscard]] std::optional<std::int64_t> number_of(std::string_view text);
[[nodiscard]] std::optional<double> real_of(std::string_view text);

// Keeps its memory from one line to the next. One thread at a time.
class PfwParser {
 public:
  enum class Outcome : std::uint8_t { kLine, kNothing, kDamaged };

  PfwParser();
  ~PfwParser();
  PfwParser(const PfwParser&) = delete;
  PfwParser& operator=(const PfwParser&) = delete;

  // `line` has LineReader::kPadding readable bytes behind it. kNothing: empty, or a bracket around
  // the events.
  Outcome parse(std::string_view line, PfwLine& out);

 private:
  class State;
  Outcome parse_object(std::string_view object, PfwLine& out);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::analysis

// SPDX-License-Identifier: MIT
// Reads shell words with quotes and escapes, but expands nothing: a line with an open quote, or
// without a directory and a command, is an error with its number.
#include "fleet/agents/command_log.h"

#include <optional>
#include <utility>

#include "base/text.h"

namespace fathom::fleet {
namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

// The words of one line.
class ShellWords {
 public:
  explicit ShellWords(std::string_view line) : line_(line) {}

  // Nothing where a quote is left open.
  std::optional<std::vector<std::string>> read() {
    while (at_ < line_.size()) {
      if (!take(line_[at_++])) return {};
    }
    end_word();
    return std::move(words_);
  }

 private:
  bool take(char letter) {
    if (is_blank(letter)) {
      end_word();
      return true;
    }
    inside_ = true;
    if (letter == '\'') return take_until_quote();
    if (letter == '"') return take_until_double_quote();
    if (letter == '\\') {
      if (at_ == line_.size()) return false;
      letter = line_[at_++];
    }
    word_ += letter;
    return true;
  }

  bool take_until_quote() {
    const std::size_t end = line_.find('\'', at_);
    if (end == std::string_view::npos) return false;
    word_ += line_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }

  bool take_until_double_quote() {
    constexpr std::string_view kEscaped = "$`\"\\";
    while (at_ < line_.size()) {
      char letter = line_[at_++];
      if (letter == '"') return true;
      if (letter == '\\' && at_ < line_.size() && kEscaped.find(line_[at_]) != kEscaped.npos)
        letter = line_[at_++];
      word_ += letter;
    }
    return false;
  }

  void end_word() {
    if (inside_) words_.push_back(std::exchange(word_, {}));
    inside_ = false;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  bool inside_ = false;  // a word, which may be empty: ''
  std::string word_;
  std::vector<std::string> words_;
};

Error wrong(std::size_t number, const std::string& what) {
  return {Code::kInvalid, "line " + std::to_string(number) + ": " + what,
          "write: cd DIRECTORY && COMMAND ARGUMENTS…"};
}

}  // namespace

Result<std::vector<LoggedCommand>> parse_command_log(std::string_view text,
                                                     const std::string& program) {
  constexpr std::size_t kFront = 3;  // x DIR x
  std::vector<LoggedCommand> commands;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    if (line.find('\0') != std::string_view::npos) return wrong(number, "it holds a zero byte");
    std::optional<std::vector<std::string>> words = ShellWords(line).read();
    if (!words) return wrong(number, "a quote is not closed");
    if (words->size() < kFront + (program.empty() ? 1 : 0))
      return wrong(number, "a directory and a command are missing");
    LoggedCommand command{.directory = (*words)[1], .words = {}};
    if (!program.empty()) command.words.push_back(program);
    command.words.insert(command.words.end(), words->begin() + kFront, words->end());
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace fathom::fleet

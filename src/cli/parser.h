// SPDX-License-Identifier: MIT
// A command's options: declared once, parsed by CLI11, shown by --help. Keeps CLI11's header out of
// the commands.
//
//   Result<int> run(Parser& parser) {
//     std::string trace, format = "table";
//     parser.positional("TRACE", trace, "the recording");
//     parser.option("--format", format, "FORMAT", "table, json, csv or md");
//     FATHOM_ASSIGN(bool go_on, parser.parse());
//     if (!go_on) return 0;  // --help was asked for and printed
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace fathom::cli {

// One argument as a user may give it.
struct Argument {
  std::string names;    // "-o,--output"; of a positional one its name
  std::string metavar;  // of the value; "" where there is none
  std::string help;
};

// All that a command takes, in the order in which it was declared.
struct Signature {
  std::vector<Argument> positionals;
  std::vector<Argument> options;
  std::vector<std::pair<std::string, std::vector<Argument>>> lists;  // by title
  bool has_tail = false;  // the last positional one is a program with its arguments
};

// Lives as long as its command runs. Errors of parse() are usage errors. One thread.
class Parser {
 public:
  Parser(const CommandDef& command, std::vector<std::string> arguments);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // `names` as "-q,--quiet". The variables must outlive parse() and hold the defaults before it.
  void flag(const std::string& names, bool& value, std::string help);
  void option(const std::string& names, std::string& value, const std::string& metavar,
              std::string help);
  void option(const std::string& names, std::int64_t& value, const std::string& metavar,
              std::string help);
  void option(const std::string& names, double& value, const std::string& metavar,
              std::string help);
  // May be given several times, and each time as a comma list.
  void option(const std::string& names, std::vector<std::string>& value, const std::string& metavar,
              std::string help);
  // May be given several times; commas are part of the value.
  void repeated(const std::string& names, std::vector<std::string>& value,
                const std::string& metavar, std::string help);
  void positional(const std::string& name, std::string& value, std::string help);
  void optional_positional(const std::string& name, std::string& value, std::string help);
  void positionals(const std::string& name, std::vector<std::string>& value, std::string help);
  // A program with its arguments: all from the first word that is no option on, or behind "--".
  void tail(const std::string& name, std::vector<std::string>& value, std::string help);
  void optional_tail(const std::string& name, std::vector<std::string>& value, std::string help);

  // Names with their meaning that --help and the manual page list under a title of their own.
  void list(std::string title, const std::vector<std::pair<std::string, std::string>>& rows);

  // Whether an option was given (after parse).
  [[nodiscard]] bool given(const std::string& name) const;

  // The whole command line: "fathom", the command's name, the arguments.
  [[nodiscard]] std::vector<std::string> words() const;

  // Fills the variables. false: help was printed, and the command has nothing left to do.
  Result<bool> parse();

  [[nodiscard]] std::string help() const;

  // What a command takes, without running it: for manual pages and completions.
  static Signature describe(const CommandDef& command);

 private:
  struct Declared;
  std::size_t tail_start() const;
  std::unique_ptr<Declared> declared_;
};

}  // namespace fathom::cli

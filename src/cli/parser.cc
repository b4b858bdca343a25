// SPDX-License-Identifier: MIT
// Wraps CLI11. The position of the program's own command line is found here, because CLI11 would
// take a mistyped option for the program.
#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "render/display_width.h"

namespace fathom::cli {
namespace {

// "-o, --output DIR"
std::string shown_names(const Argument& argument) {
  std::string left;
  for (const std::string_view name : split(argument.names, ',')) {
    if (!left.empty()) left += ", ";
    if (left.empty() && name.starts_with("--")) left += "    ";
    left += trim(name);
  }
  return argument.metavar.empty() ? left : left + " " + argument.metavar;
}

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kHelpColumn = 34;
constexpr std::size_t kLeftWidth = kHelpColumn - 3;

// "  -o, --output DIR   help", the help in lines that begin below each other; below what is on the
// left where that is too long.
std::string help_line(const std::string& left, const std::string& help) {
  std::string text = fmt::format("  {:<{}}", left, kLeftWidth);
  if (render::display_width(left) > kLeftWidth) text += "\n" + std::string(kHelpColumn - 1, ' ');
  std::size_t column = kHelpColumn - 1;
  for (const std::string_view word : split(help, ' ')) {
    const std::size_t width = render::display_width(word);
    if (column > kHelpColumn && column + 1 + width > kLineWidth) {
      text += "\n" + std::string(kHelpColumn - 1, ' ');
      column = kHelpColumn - 1;
    }
    text += " " + std::string(word);
    column += 1 + width;
  }
  return text + "\n";
}

// CLI11 reads nothing as 0.
std::string refuse_empty(const std::string& word) {
  return word.empty() ? "a number is needed" : "";
}

// CLI11's own words, in one line.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::string(trim(text));
}

}  // namespace

struct Parser::Declared {
  Declared(const CommandDef& of, std::vector<std::string> given)
      : command(of), arguments(std::move(given)) {}

  const CommandDef& command;
  std::vector<std::string> arguments;
  CLI::App app;
  Signature taken;
  std::vector<std::string>* tail = nullptr;
  bool tail_needed = true;
  std::size_t before_tail = 0;  // positional arguments
  bool describes = false;       // nothing is parsed

  void finish(const std::string& names, const std::string& metavar, std::string help) {
    taken.options.push_back({names, metavar, std::move(help)});
  }
};

Parser::Parser(const CommandDef& command, std::vector<std::string> arguments)
    : declared_(std::make_unique<Declared>(command, std::move(arguments))) {
  declared_->app.set_help_flag();  // ours is printed by help()
}
Parser::~Parser() = default;

void Parser::flag(const std::string& names, bool& value, std::string help) {
  declared_->app.add_flag(names, value);
  declared_->finish(names, "", std::move(help));
}

void Parser::option(const std::string& names, std::string& value, const std::string& metavar,
                    std::string help) {
  declared_->app.add_option(names, value);
  declared_->finish(names, metavar, std::move(help));
}

void Parser::option(const std::string& names, std::int64_t& value, const std::string& metavar,
                    std::string help) {
  declared_->app.add_option(names, value)->check(refuse_empty);
  declared_->finish(names, metavar, std::move(help));
}

void Parser::option(const std::string& names, double& value, const std::string& metavar,
                    std::string help) {
  declared_->app.add_option(names, value)->check(refuse_empty);
  declared_->finish(names, metavar, std::move(help));
}

void Parser::option(const std::string& names, std::vector<std::string>& value,
                    const std::string& metavar, std::string help) {
  CLI::Option* option = declared_->app.add_option(names, value);
  option->delimiter(',')->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  declared_->finish(names, metavar, std::move(help));
}

void Parser::repeated(const std::string& names, std::vector<std::string>& value,
                      const std::string& metavar, std::string help) {
  CLI::Option* option = declared_->app.add_option(names, value);
  option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  declared_->finish(names, metavar, std::move(help));
}

void Parser::positional(const std::string& name, std::string& value, std::string help) {
  declared_->app.add_option(name, value)->required();
  declared_->taken.positionals.push_back({name, "", std::move(help)});
}

void Parser::optional_positional(const std::string& name, std::string& value, std::string help) {
  declared_->app.add_option(name, value);
  declared_->taken.positionals.push_back({name, "", std::move(help)});
}

void Parser::positionals(const std::string& name, std::vector<std::string>& value,
                         std::string help) {
  declared_->app.add_option(name, value)->required();
  declared_->taken.positionals.push_back({name, "", std::move(help)});
}

void Parser::tail(const std::string& name, std::vector<std::string>& value, std::string help) {
  declared_->tail = &value;
  declared_->before_tail = declared_->taken.positionals.size();
  declared_->taken.has_tail = true;
  declared_->taken.positionals.push_back({name, "", std::move(help)});
}

void Parser::optional_tail(const std::string& name, std::vector<std::string>& value,
                           std::string help) {
  tail(name, value, std::move(help));
  declared_->tail_needed = false;
}

void Parser::list(std::string title, const std::vector<std::pair<std::string, std::string>>& rows) {
  std::vector<Argument> lines;
  for (const auto& [name, help] : rows) lines.push_back({name, "", help});
  declared_->taken.lists.emplace_back(std::move(title), std::move(lines));
}

bool Parser::given(const std::string& name) const {
  const CLI::Option* option = declared_->app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

// Where the program's own command line starts: behind "--", or at the first word that neither is an
// option nor belongs to one, after the positional arguments that stand before it. CLI11's
// prefix_command would take a mistyped option for the program.
std::size_t Parser::tail_start() const {
  const std::vector<std::string>& words = declared_->arguments;
  std::size_t at = 0, own = declared_->before_tail;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') {
      if (own == 0) break;
      --own;
      continue;
    }
    if (word.starts_with("--") && word.find('=') != std::string::npos) continue;
    const bool is_long = word.starts_with("--");
    for (std::size_t i = 1; i < (is_long ? 2 : word.size()); ++i) {
      const std::string name = is_long ? word : std::string("-") + word[i];
      const CLI::Option* option = declared_->app.get_option_no_throw(name);
      if (option == nullptr || option->get_items_expected_max() == 0) continue;
      if (is_long || i + 1 == word.size()) ++at;  // its value is the next word
      break;
    }
  }
  return std::min(at, words.size());
}

std::vector<std::string> Parser::words() const {
  std::vector<std::string> words{"fathom", std::string(declared_->command.name)};
  words.insert(words.end(), declared_->arguments.begin(), declared_->arguments.end());
  return words;
}

Result<bool> Parser::parse() {
  Declared& d = *declared_;
  if (d.describes) return false;
  const std::size_t end = d.tail != nullptr ? tail_start() : d.arguments.size();
  std::vector<std::string> own(d.arguments.begin(), d.arguments.begin() + static_cast<long>(end));
  const auto stop = std::ranges::find(own, "--");
  if (std::find_if(own.begin(), stop, [](const std::string& word) {
        return word == "--help" || word == "-h";
      }) != stop) {
    std::fputs(help().c_str(), stdout);
    return false;
  }
  const std::string hint = fmt::format("run 'fathom {} --help' for usage", d.command.name);
  try {
    std::ranges::reverse(own);  // CLI11 takes its words from the back
    d.app.parse(std::move(own));
  } catch (const CLI::ParseError& error) {
    return usage_error(one_line(error.what()), hint);
  }
  if (d.tail == nullptr) return true;
  const std::size_t skip = end < d.arguments.size() && d.arguments[end] == "--" ? 1 : 0;
  d.tail->assign(d.arguments.begin() + static_cast<long>(end + skip), d.arguments.end());
  if (d.tail->empty() && d.tail_needed) return usage_error("no command was given", hint);
  return true;
}

std::string Parser::help() const {
  const Declared& d = *declared_;
  std::string text = fmt::format("usage: fathom {} {}\n\n{}.\n\n", d.command.name, d.command.usage,
                                 d.command.summary);
  const auto add = [&](const std::vector<Argument>& arguments) {
    for (const Argument& one : arguments) text += help_line(shown_names(one), one.help);
  };
  add(d.taken.positionals);
  add(d.taken.options);
  text += help_line("-h, --help", "show this help");
  for (const auto& [title, lines] : d.taken.lists) {
    text += fmt::format("\n{}:\n", title);
    add(lines);
  }
  text += "\nExample:\n";
  for (const std::string_view line : split(d.command.example, '\n')) {
    text += fmt::format("  {}\n", line);
  }
  return text;
}

Signature Parser::describe(const CommandDef& command) {
  Parser parser(command, {});
  parser.declared_->describes = true;
  (void)command.run(parser);  // declares, and ends where it would parse
  return std::move(parser.declared_->taken);
}

}  // namespace fathom::cli

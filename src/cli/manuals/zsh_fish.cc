// SPDX-License-Identifier: MIT
// Completions for zsh and fish, whose own functions do the work: they are told of each option, its
// help and what its value can be.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/manuals/manuals.h"

namespace fathom::cli {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// Inside single quotes of zsh, in one of its specifications of an argument.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (character == '[' || character == ']' || character == ':' || character == '\\') out += '\\';
    out += character;
  }
  return replaced(out, "'", "'\\''");
}

std::string zsh_action(const Values& values) {
  const std::string words = join(values.words, " ");
  switch (values.kind) {
    case Values::Kind::kWords:
      return values.list ? "_values -s , name " + words : "(" + words + ")";
    case Values::Kind::kFiles:
      return "_files";
    case Values::Kind::kNone:
      return " ";
  }
  return " ";
}

std::string zsh_option(const CommandDef& command, const Argument& option) {
  const std::vector<std::string> names = names_of(option);
  std::string after = "[" + zsh_text(option.help) + "]";
  if (!option.metavar.empty())
    after += ":" + zsh_text(option.metavar) + ":" + zsh_action(values_of(command, option));
  const std::string many = option.metavar.ends_with("…") ? "*" : "";  // may be given again
  if (names.size() == 1) return fmt::format("'{}{}{}'", many, names[0], after);
  const std::string others = many.empty() ? "(" + join(names, " ") + ")" : many;
  return fmt::format("'{}'{{{}}}'{}'", others, join(names, ","), after);
}

std::string zsh_positionals(const Manual& manual) {
  if (manual.takes.has_tail)
    return " \\\n        '(-)1:program:_command_names -e' '*::argument:_normal'";
  std::string text;
  int number = 1;
  for (const Argument& argument : manual.takes.positionals) {
    text += fmt::format(" \\\n        '{}:{}:{}'", number++, zsh_text(argument.names),
                        zsh_action(values_of(*manual.command, argument)));
  }
  if (number == 2 &&
      manual.command->usage.find("…", manual.command->usage.find(']')) != std::string_view::npos)
    text += " \\\n        '*:more:_files'";
  return text;
}

// Inside single quotes of fish.
std::string fish_text(std::string_view text) {
  return replaced(replaced(std::string(text), "\\", "\\\\"), "'", "\\'");
}

std::string fish_value(const Argument& option, const Values& values) {
  if (option.metavar.empty()) return "";
  if (values.kind == Values::Kind::kFiles) return " -r -F";
  if (values.kind == Values::Kind::kNone) return " -x";
  const std::string words = join(values.words, " ");
  return values.list ? " -x -a '(__fish_append , " + words + ")'" : " -x -a '" + words + "'";
}

std::string fish_option(const std::string& begin, const CommandDef& command,
                        const Argument& option) {
  std::string names;
  for (const std::string& name : names_of(option))
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return begin + names + fish_value(option, values_of(command, option)) + " -d '" +
         fish_text(option.help) + "'\n";
}

std::string fish_positionals(const std::string& begin, const Manual& manual) {
  if (manual.takes.has_tail) return begin + " -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
  std::string text;
  for (const Argument& argument : manual.takes.positionals) {
    const Values values = values_of(*manual.command, argument);
    if (values.kind == Values::Kind::kFiles) text += begin + " -F\n";
    if (values.kind == Values::Kind::kWords)
      text += begin + " -a '" + join(values.words, " ") + "'\n";
  }
  return text;
}

}  // namespace

std::string zsh_completion(const std::vector<Manual>& manuals) {
  std::string text = "#compdef fathom\n# Made by fathom_manuals.\n\n_fathom() {\n";
  text += "  local -a commands\n  commands=(\n";
  for (const Manual& manual : manuals)
    text += fmt::format("    '{}:{}'\n", manual.command->name, zsh_text(manual.command->summary));
  text +=
      "    'help:'\n  )\n"
      "  if ((CURRENT == 2)); then\n    _describe -t commands command commands\n    return\n  fi\n"
      "  shift words\n  ((CURRENT--))\n  case $words[1] in\n"
      "    help) _describe -t commands command commands ;;\n";
  for (const Manual& manual : manuals) {
    text += fmt::format("    {})\n      _arguments -s -S", manual.command->name);
    for (const Argument& option : manual.takes.options)
      text += " \\\n        " + zsh_option(*manual.command, option);
    text += zsh_positionals(manual) + "\n      ;;\n";
  }
  return text +
         "  esac\n}\n\n"
         "if [[ $funcstack[1] == _fathom ]]; then _fathom \"$@\"; else compdef _fathom fathom; "
         "fi\n";
}

std::string fish_completion(const std::vector<Manual>& manuals) {
  std::string text =
      "# Completion of fathom for fish; made by fathom_manuals.\ncomplete -c fathom -f\n";
  for (const Manual& manual : manuals) {
    text += fmt::format("complete -c fathom -n __fish_use_subcommand -a {} -d '{}'\n",
                        manual.command->name, fish_text(manual.command->summary));
  }
  for (const Manual& manual : manuals) {
    const std::string begin =
        fmt::format("complete -c fathom -n '__fish_seen_subcommand_from {}'", manual.command->name);
    text += fish_positionals(begin, manual);
    for (const Argument& option : manual.takes.options)
      text += fish_option(begin, *manual.command, option);
  }
  return text;
}

}  // namespace fathom::cli

// SPDX-License-Identifier: MIT
// Completion for bash. It uses bash's own builtins alone: the package bash-completion, which loads
// such files when they are first needed, may be missing.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/manuals/manuals.h"

namespace fathom::cli {
namespace {

constexpr std::string_view kBegin = R"(# Completion of fathom for bash; made by fathom_manuals.

# Those of the words given that go on from what is typed.
_fathom_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }

# The same for the last of a comma list, which may begin with a plus.
_fathom_list() {
  local typed=${word##*[,+]}
  mapfile -t COMPREPLY < <(compgen -P "${word%"$typed"}" -W "$1" -- "$typed")
}

_fathom_files() { compopt -o default 2>/dev/null; COMPREPLY=(); }

# The place of the program's own command line, if it has begun: behind "--", or at the first word
# that neither is an option nor the value of one of those given.
_fathom_tail() {
  local at
  for ((at = 2; at < COMP_CWORD; at++)); do
    if [[ ${COMP_WORDS[at]} == -- ]]; then
      echo $((at + 1))
      return
    elif [[ " $1 " == *" ${COMP_WORDS[at]} "* ]]; then
      at=$((at + 1))
      if [[ ${COMP_WORDS[at]} == "=" ]]; then at=$((at + 1)); fi
    elif [[ ${COMP_WORDS[at]} != -* ]]; then
      echo "$at"
      return
    fi
  done
  echo "$COMP_CWORD"
}

_fathom() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} tail
  COMPREPLY=()
  # Bash takes --option=value for three words.
  if [[ $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $word == "=" ]]; then
    word=
  fi
  if ((COMP_CWORD == 1)); then
)";

constexpr std::string_view kEnd = R"(  esac
}

complete -F _fathom fathom
)";

std::string action(const Values& values) {
  switch (values.kind) {
    case Values::Kind::kWords:
      return fmt::format("{} \"{}\"", values.list ? "_fathom_list" : "_fathom_words",
                         join(values.words, " "));
    case Values::Kind::kFiles:
      return "_fathom_files";
    case Values::Kind::kNone:
      return ":";
  }
  return ":";
}

// Of a program's command line everything is left to bash.
std::string tail_of(const Manual& manual) {
  std::string valued;
  for (const Argument& option : manual.takes.options)
    if (!option.metavar.empty()) valued += " " + join(names_of(option), " ");
  return fmt::format(
      "      tail=$(_fathom_tail \"{}\")\n"
      "      if ((COMP_CWORD > tail)); then\n"
      "        _fathom_files\n        return\n      fi\n",
      valued.substr(valued.empty() ? 0 : 1));
}

std::string positional_of(const Manual& manual) {
  if (manual.takes.has_tail) return "mapfile -t COMPREPLY < <(compgen -c -- \"$word\")";
  // What is known by name is offered where something was named already, files before that.
  std::string words;
  bool files = false;
  for (const Argument& argument : manual.takes.positionals) {
    const Values values = values_of(*manual.command, argument);
    files = files || values.kind == Values::Kind::kFiles;
    if (values.kind == Values::Kind::kWords) words = action(values);
  }
  if (words.empty()) return files ? "_fathom_files" : ":";
  if (!files) return words;
  return "if [[ $before == " + std::string(manual.command->name) +
         " ]]; then _fathom_files; else " + words + "; fi";
}

std::string command_case(const Manual& manual) {
  std::string text = fmt::format("    {})\n", manual.command->name);
  if (manual.takes.has_tail) text += tail_of(manual);
  std::string all, values;
  for (const Argument& option : manual.takes.options) {
    const std::vector<std::string> names = names_of(option);
    all += (all.empty() ? "" : " ") + join(names, " ");
    if (option.metavar.empty()) continue;
    values += fmt::format("        {}) {} ;;\n", join(names, " | "),
                          action(values_of(*manual.command, option)));
  }
  text += "      case $before in\n" + values + "        *)\n";
  text +=
      fmt::format("          if [[ $word == -* ]]; then\n            _fathom_words \"{}\"\n", all);
  text += fmt::format("          else\n            {}\n          fi\n          ;;\n      esac\n",
                      positional_of(manual));
  return text + "      ;;\n";
}

}  // namespace

std::string bash_completion(const std::vector<Manual>& manuals) {
  std::string text(kBegin);
  std::vector<std::string> names;
  for (const Manual& manual : manuals) names.emplace_back(manual.command->name);
  text += fmt::format("    _fathom_words \"{} help --help --version\"\n    return\n  fi\n",
                      join(names, " "));
  text += "  case ${COMP_WORDS[1]} in\n";
  text += fmt::format("    help) _fathom_words \"{}\" ;;\n", join(names, " "));
  for (const Manual& manual : manuals) text += command_case(manual);
  return text + std::string(kEnd);
}

}  // namespace fathom::cli

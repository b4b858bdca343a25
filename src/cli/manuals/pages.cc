// SPDX-License-Identifier: MIT
// Manual pages in roff (man(7)). Every text of a definition is escaped: a line of ours never begins
// a request by accident, and characters beyond ASCII are written by their numbers, which every
// formatter understands whatever the locale.
#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "base/version.h"
#include "cli/manuals/manuals.h"

namespace fathom::cli {
namespace {

constexpr unsigned kContinues = 0x80;  // 10xxxxxx

// The next character of UTF-8 text, which a definition is.
char32_t next_character(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < kContinues) return first;
  char32_t value = first & (first >= 0xF0 ? 0x07U : first >= 0xE0 ? 0x0FU : 0x1FU);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == kContinues)
    value = (value << 6U) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return value;
}

std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (std::size_t at = 0; at < text.size();) {
    const char32_t character = next_character(text, at);
    if (character == U'…') {
      out += "...";
    } else if (character >= kContinues) {
      out += fmt::format("\\[u{:04X}]", static_cast<unsigned>(character));
    } else if (character == '\\') {
      out += "\\e";
    } else if (character == '-') {
      out += "\\-";
    } else if (character == '\'') {
      out += "\\(aq";
    } else {
      out += static_cast<char>(character);
    }
  }
  return out;
}

std::string title(const std::string& name) {
  return fmt::format(
      ".\\\" Made from the definitions of the commands by fathom_manuals.\n"
      ".TH \"{}\" 1 \"\" \"fathom {}\" \"Fathom\"\n",
      roff(name), roff(version()));
}

// A sentence of a definition begins with a capital and has no full stop; NAME wants neither.
std::string name_section(const std::string& name, std::string_view summary) {
  std::string words(summary);
  const bool is_word = words.size() > 1 && words[1] >= 'a' && words[1] <= 'z';
  if (is_word) words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  return ".SH NAME\n" + roff(name) + " \\- " + roff(words) + "\n";
}

std::string tagged(const std::string& tag, std::string_view help) {
  return ".TP\n" + tag + "\n" + roff(help) + "\n";
}

std::string option_tag(const Argument& option) {
  std::string tag;
  for (const std::string& name : names_of(option))
    tag += (tag.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  return option.metavar.empty() ? tag : tag + " \\fI" + roff(option.metavar) + "\\fR";
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string examples(std::string_view lines) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string_view line : split(lines, '\n')) text += "    " + roff(line) + "\n";
  return text + ".fi\n";
}

constexpr std::string_view kStatus =
    ".SH EXIT STATUS\n"
    ".TP\n0\nsuccess\n"
    ".TP\n1\n\\fBcheck\\fR and \\fBdiff\\fR: a limit was exceeded\n"
    ".TP\n2\nthe command line is wrong\n"
    ".TP\n3\nan input or this machine does not allow it; one line on stderr says why\n"
    ".PP\n\\fBfathom run\\fR ends with the status of the program that it ran.\n";

}  // namespace

std::string overview_page(const std::vector<Manual>& manuals) {
  std::string page = title("fathom");
  page += name_section("fathom", "Shows where the time of a program goes");
  page += ".SH SYNOPSIS\n\\fBfathom\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n";
  page +=
      ".SH DESCRIPTION\nFathom records what a program does, from its functions down to the "
      "machine, and explains where the time went.\n.SH COMMANDS\n";
  std::string others;
  for (const Manual& manual : manuals) {
    const std::string name = "fathom-" + std::string(manual.command->name);
    page += tagged("\\fB" + roff(name) + "\\fR(1)", manual.command->summary);
    others += (others.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR(1)");
  }
  page += ".SH OPTIONS\n" + tagged("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "list the commands");
  page += tagged("\\fB\\-V\\fR, \\fB\\-\\-version\\fR", "print the version");
  page += kStatus;
  page += examples("fathom run -- ./simulate input.dat");
  return page + ".SH SEE ALSO\n" + others + "\n";
}

std::string command_page(const Manual& manual) {
  const CommandDef& command = *manual.command;
  const std::string name = "fathom-" + std::string(command.name);
  std::string page = title(name) + name_section(name, command.summary);
  page +=
      fmt::format(".SH SYNOPSIS\n\\fBfathom {}\\fR {}\n", roff(command.name), roff(command.usage));
  page += ".SH DESCRIPTION\n" + roff(command.summary) + ".\n";
  for (const Argument& argument : manual.takes.positionals)
    page += tagged("\\fI" + roff(argument.names) + "\\fR", argument.help);
  page += ".SH OPTIONS\n";
  for (const Argument& option : manual.takes.options)
    page += tagged(option_tag(option), option.help);
  for (const auto& [heading, rows] : manual.takes.lists) {
    page += ".SH " + roff(upper_case(heading)) + "\n";
    for (const Argument& row : rows) page += tagged("\\fB" + roff(row.names) + "\\fR", row.help);
  }
  page += kStatus;
  page += examples(command.example);
  return page + ".SH SEE ALSO\n\\fBfathom\\fR(1)\n";
}

}  // namespace fathom::cli

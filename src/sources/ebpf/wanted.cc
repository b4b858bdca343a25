// SPDX-License-Identifier: MIT
// A text is tried literally first: "f(int)" is a name and a regular expression, and who writes it
// means the name.
#include "sources/ebpf/wanted.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include "base/demangle.h"
#include "base/suggest.h"
#include "base/text.h"

namespace fathom::sources::ebpf {
namespace {

bool is_plain(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return c == '_' || c == '@' || c == ':' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

// A search needs neither to begin nor to end with what fits everything, and takes long to try it.
std::string_view without_anything(std::string_view pattern) {
  while (pattern.starts_with(".*")) pattern.remove_prefix(2);
  while (pattern.ends_with(".*") && !pattern.ends_with("\\.*")) pattern.remove_suffix(2);
  return pattern;
}

std::string without_spaces(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

// The last word before parameters and arguments of templates: mangled names have it as it is. (An
// operator's is "": they have that of none.)
std::string last_word(std::string_view text) {
  if (text.find("operator") != std::string_view::npos) return "";
  text = text.substr(0, text.find_first_of("(<"));
  text.remove_prefix(text.find_last_of(": ~") + 1);  // npos + 1 is 0
  return std::string(text);
}

// As a compiler wrote it, or with its parameters.
bool is_of_cpp(const std::string& name) {
  return name.starts_with("_Z") || name.find('(') != std::string::npos;
}

std::string without_version(const std::string& name) { return name.substr(0, name.find('@')); }

Wanted by_name(const std::string& text) {
  return [text, spaceless = without_spaces(text), word = last_word(text)](const std::string& name) {
    if (name == text || without_version(name) == text) return true;
    if (!is_of_cpp(name) || name.find(word) == std::string::npos) return false;
    const std::string demangled = demangle(name);
    return without_spaces(demangled) == spaceless || plain_name(demangled) == text;
  };
}

Wanted by_regex(const std::regex& regex) {
  return [regex](const std::string& name) {
    if (std::regex_search(name, regex)) return true;
    if (name.find('@') != std::string::npos && std::regex_search(without_version(name), regex))
      return true;
    if (!is_of_cpp(name)) return false;
    const std::string demangled = demangle(name);
    return std::regex_search(demangled, regex) || std::regex_search(plain_name(demangled), regex);
  };
}

// Where the bracket at `close` was opened; npos where it was not.
std::size_t opened_at(std::string_view text, std::size_t close, char open_bracket) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (text[i] == text[close]) ++depth;
    if (text[i] == open_bracket && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Where the name begins, behind the type of the result that templates bear.
std::size_t name_begins(std::string_view text) {
  const std::size_t word = text.rfind("operator");
  std::size_t end = word == std::string_view::npos ? text.size() : word;
  int depth = 0;
  while (end-- > 0) {
    const char c = text[end];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if (c == ' ' && depth == 0) return end + 1;
  }
  return 0;
}

}  // namespace

std::string plain_name(std::string_view demangled) {
  if (demangled.ends_with(']'))
    return std::string(demangled);  // a part that the compiler split off
  const std::size_t close = demangled.rfind(')');
  if (close != std::string_view::npos) {
    const std::size_t open = opened_at(demangled, close, '(');
    // "(anonymous namespace)::f" has no parameters that begin there.
    if (open != std::string_view::npos && open > 0 && !demangled.substr(close).starts_with(")::"))
      demangled = demangled.substr(0, open);
  }
  const bool is_operator = demangled.find("operator") != std::string_view::npos;
  const bool is_template = demangled.ends_with('>') && !is_operator;
  const std::size_t begin = name_begins(demangled);
  demangled.remove_prefix(begin);
  if (is_template) {
    const std::size_t open = opened_at(demangled, demangled.size() - 1, '<');
    if (open != std::string_view::npos && open > 0) demangled = demangled.substr(0, open);
  }
  return std::string(demangled);
}

Result<Pattern> read_pattern(const std::string& text) {
  Pattern pattern{.text = text, .literally = by_name(text), .regex = std::nullopt};
  if (is_plain(text)) return pattern;
  try {
    const std::regex regex(std::string(without_anything(text)), std::regex::optimize);
    pattern.regex = by_regex(regex);
  } catch (const std::regex_error&) {
    // "f(int**)" is none, and a name all the same.
    if (text.find('(') == std::string::npos || !text.ends_with(')'))
      return usage_error("'" + escape_control(text) + "' is not a regular expression");
  }
  return pattern;
}

std::vector<std::size_t> find_wanted(const Pattern& pattern,
                                     const std::vector<std::string>& names) {
  std::vector<std::size_t> found;
  const auto take = [&](const Wanted& wanted) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (wanted(names[i])) found.push_back(i);
    }
  };
  take(pattern.literally);
  if (found.empty() && pattern.regex) take(*pattern.regex);
  return found;
}

std::string did_you_mean_of(const std::string& text, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  known.reserve(names.size());
  for (const std::string& name : names)
    known.push_back(is_of_cpp(name) ? plain_name(demangle(name)) : name);
  return did_you_mean(near_words(plain_name(text), known));
}

}  // namespace fathom::sources::ebpf

// SPDX-License-Identifier: MIT
#include "sources/ebpf/functions.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "base/demangle.h"
#include "base/files.h"
#include "base/text.h"
#include "symbols/elf_code.h"

namespace fathom::sources::ebpf {
namespace {

constexpr std::string_view kStatic = "usdt:";

Error malformed(const std::string& text) {
  return usage_error("--functions '" + escape_control(text) + "' names no function of a file",
                     "write PATH:NAME, PATH:REGEX or usdt:PATH:PROVIDER:NAME");
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr) {
    for (const std::string_view folder : split(path, ':'))
      if (!folder.empty()) folders.emplace_back(folder);
  }
#if defined(__aarch64__)
  constexpr const char* kTriplet = "aarch64-linux-gnu";
#else
  constexpr const char* kTriplet = "x86_64-linux-gnu";
#endif
  for (const char* root : {"/lib", "/usr/lib", "/usr/local/lib"}) {
    folders.push_back(join_path(root, kTriplet));
    folders.emplace_back(root);
    folders.push_back(std::string(root) + "64");
  }
  return folders;
}

Result<std::string> find_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return real_path(name);
  for (const std::string& folder : library_folders()) {
    const std::string path = join_path(folder, name);
    if (path_exists(path)) return real_path(path);
  }
  return Error{Code::kNotFound, "there is no library " + name, "name the file by its path"};
}

bool is_plain(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return c == '_' || c == '@' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

// Takes names as files have them; a pattern may also be of what C++ programmers wrote.
using Wanted = std::function<bool(const std::string& name)>;

// A search needs neither to begin nor to end with what fits everything, and takes long to try it.
std::string_view without_anything(std::string_view pattern) {
  while (pattern.starts_with(".*")) pattern.remove_prefix(2);
  while (pattern.ends_with(".*") && !pattern.ends_with("\\.*")) pattern.remove_suffix(2);
  return pattern;
}

Result<Wanted> wanted_by(const std::string& pattern, const std::string& text) {
  if (is_plain(pattern))
    return Wanted([pattern](const std::string& name) { return name == pattern; });
  try {
    const std::regex regex(std::string(without_anything(pattern)), std::regex::optimize);
    return Wanted([regex](const std::string& name) {
      return std::regex_search(name, regex) ||
             (name.starts_with("_Z") && std::regex_search(demangle(name), regex));
    });
  } catch (const std::regex_error&) {
    return malformed(text);
  }
}

Error nothing_found(const std::string& pattern, const std::string& path) {
  return {Code::kNotFound, "there is no function '" + escape_control(pattern) + "' in " + path, ""};
}

// Several names of one place are one function, called by the first of them.
Status add_functions(const std::string& text, std::vector<Function>& functions) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return malformed(text);
  const std::string pattern = text.substr(colon + 1);
  FATHOM_ASSIGN(const Wanted wanted, wanted_by(pattern, text));
  FATHOM_ASSIGN(const std::string path, find_file(text.substr(0, colon)));
  FATHOM_ASSIGN(const std::vector<symbols::CodePlace> places, symbols::functions_of(path));
  const std::size_t before = functions.size();
  for (const symbols::CodePlace& place : places) {
    if (!wanted(place.name)) continue;
    const bool known = functions.size() > before && functions.back().offset == place.offset;
    if (!known) functions.push_back({path, place.offset, 0, demangle(place.name), false, ""});
  }
  return functions.size() > before ? Status() : Status(nothing_found(pattern, path));
}

Status add_static_probes(const std::string& text, std::vector<Function>& functions) {
  const std::vector<std::string_view> words = split(text, ':');  // usdt PATH PROVIDER NAME
  if (words.size() != 4 || words[1].empty() || words[2].empty() || words[3].empty())
    return malformed(text);
  const std::string wanted = std::string(words[2]) + ":" + std::string(words[3]);
  FATHOM_ASSIGN(const std::string path, find_file(std::string(words[1])));
  FATHOM_ASSIGN(const std::vector<symbols::CodePlace> places, symbols::static_probes_of(path));
  const std::size_t before = functions.size();
  for (const symbols::CodePlace& place : places) {
    if (place.name == wanted)
      functions.push_back({path, place.offset, place.semaphore, place.name, true, ""});
  }
  return functions.size() > before ? Status() : Status(nothing_found(wanted, path));
}

struct Category {
  std::string name;
  std::string file;  // "": any
  Wanted wanted;
};

// (Colons of C++ come in pairs.)
Result<Category> read_category(const std::string& text) {
  const std::size_t equals = text.find('=');
  const Error malformed = usage_error("--categories '" + escape_control(text) + "' is none",
                                      "write CATEGORY=NAME, CATEGORY=REGEX or CATEGORY=PATH:REGEX");
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return malformed;
  Category category{text.substr(0, equals), "", {}};
  std::string pattern = text.substr(equals + 1);
  const std::size_t colon = pattern.find(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < pattern.size() &&
      pattern[colon + 1] != ':') {
    FATHOM_ASSIGN(category.file, find_file(pattern.substr(0, colon)));
    pattern.erase(0, colon + 1);
  }
  Result<Wanted> wanted = wanted_by(pattern, text);
  if (!wanted) return malformed;
  category.wanted = std::move(*wanted);
  return category;
}

Status set_categories(const std::vector<std::string>& texts, std::vector<Function>& functions) {
  std::vector<Category> categories;
  for (const std::string& text : texts) {
    FATHOM_ASSIGN(Category category, read_category(text));
    categories.push_back(std::move(category));
  }
  for (Function& function : functions) {
    const auto found = std::ranges::find_if(categories, [&](const Category& one) {
      return (one.file.empty() || one.file == function.file) && one.wanted(function.name);
    });
    function.category =
        found != categories.end() ? found->name : "[" + std::string(base_name(function.file)) + "]";
  }
  return {};
}

}  // namespace

Result<std::vector<Function>> find_functions(const std::vector<std::string>& texts,
                                             const std::vector<std::string>& categories) {
  std::vector<Function> functions;
  for (const std::string& text : texts) {
    FATHOM_TRY(text.starts_with(kStatic) ? add_static_probes(text, functions)
                                         : add_functions(text, functions));
  }
  std::set<std::pair<std::string, std::uint64_t>> seen;
  std::erase_if(functions, [&](const Function& function) {
    return !seen.emplace(function.file, function.offset).second;
  });
  FATHOM_TRY(set_categories(categories, functions));
  return functions;
}

}  // namespace fathom::sources::ebpf

// SPDX-License-Identifier: MIT
// Resolves `--functions` to offsets in files. Of several names for one address the one with the
// fewest leading underscores is shown.
#include "sources/ebpf/functions.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/demangle.h"
#include "base/files.h"
#include "base/text.h"
#include "sources/ebpf/chosen_code.h"
#include "sources/ebpf/go_code.h"
#include "sources/ebpf/kernel_code.h"
#include "sources/ebpf/libraries.h"
#include "sources/ebpf/returns.h"
#include "sources/ebpf/wanted.h"
#include "symbols/elf_code.h"

namespace fathom::sources::ebpf {
namespace {

constexpr std::string_view kStatic = "usdt:";

Error malformed(const std::string& text) {
  return usage_error(
      "--functions '" + escape_control(text) + "' does not name a function of a file",
      "write PATH:NAME, PATH:REGEX, usdt:PATH:PROVIDER:NAME, kernel:NAME or tracepoint:NAME");
}

Result<Pattern> pattern_of(const std::string& pattern, const std::string& text) {
  Result<Pattern> read = read_pattern(pattern);
  return read ? std::move(read) : Result<Pattern>(malformed(text));
}

std::vector<std::string> names_of(const std::vector<symbols::CodePlace>& places) {
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const symbols::CodePlace& place : places) names.push_back(place.name);
  return names;
}

Error nothing_found(const std::string& what, const std::string& pattern, const std::string& path,
                    const std::vector<std::string>& names) {
  return {Code::kNotFound, "there is no " + what + " '" + escape_control(pattern) + "' in " + path,
          escape_control(did_you_mean_of(pattern, names))};
}

// Of several names of one place, the one that the fewest underscores begin.
bool is_nearer(const symbols::CodePlace& a, const symbols::CodePlace& b) {
  const auto underscores = [](const std::string& name) {
    return std::min(name.find_first_not_of('_'), name.size());
  };
  const std::size_t own = underscores(a.name);
  const std::size_t other = underscores(b.name);
  return std::tie(a.offset, own, a.name) < std::tie(b.offset, other, b.name);
}

std::string without_version(const std::string& name) { return name.substr(0, name.find('@')); }

// What the user's texts come to.
class Finder {
 public:
  explicit Finder(bool returns) : returns_(returns) {}

  Status add(const std::string& text) {
    if (is_of_kernel(text)) return add_kernel_code(text, found_);
    return text.starts_with(kStatic) ? add_static_probes(text) : add_functions(text);
  }
  // A function that several texts name is probed once. Where nothing at all can be probed, the
  // first reason is the answer; else reasons are told beside what can.
  Result<Functions> take() {
    std::set<std::tuple<std::string, std::uint64_t, std::string>> seen;
    std::erase_if(found_.probed, [&](const Function& function) {
      const std::string name = function.is_of_kernel() ? function.name : "";
      return !seen.emplace(function.file, function.offset, name).second;
    });
    if (!found_.probed.empty() || found_.unprobed.empty()) return std::move(found_);
    const Unprobed& first = found_.unprobed.front();
    return Error{Code::kUnsupported, first.name + " cannot be probed: " + first.why, ""};
  }

 private:
  Status add_functions(const std::string& text);
  Status add_static_probes(const std::string& text);
  // An IFUNC is a name for code that is chosen when a program is loaded: a probe on the name would
  // sit on the resolver.
  void settle_choices(const std::string& path, const std::vector<symbols::CodePlace>& all,
                      std::vector<symbols::CodePlace>& places);

  bool returns_;
  StackJudge judge_;
  Functions found_;
};

// Those that choose become what was chosen.
void Finder::settle_choices(const std::string& path, const std::vector<symbols::CodePlace>& all,
                            std::vector<symbols::CodePlace>& places) {
  if (std::ranges::none_of(places, &symbols::CodePlace::chooses)) return;
  std::vector<std::string> names;
  for (const symbols::CodePlace& one : all)
    if (one.chooses) names.push_back(one.name);
  const Result<ChosenCode> chosen = ChosenCode::of(path, names);
  std::erase_if(places, [&](symbols::CodePlace& one) {
    if (!one.chooses) return false;
    const Result<std::uint64_t> place =
        chosen ? chosen->place(one.name) : Result<std::uint64_t>(chosen.error());
    if (!place) {
      found_.unprobed.push_back({one.name, place.error().message});
      return true;
    }
    one.offset = *place;
    const std::vector<std::string> others = chosen->same_as(one.name);
    if (!others.empty() && one.name == without_version(one.name))
      found_.remarks.push_back(one.name + " is counted together with " + join(others, ", ") +
                               ": on this CPU they are the same code");
    return false;
  });
}

Status Finder::add_functions(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return malformed(text);
  const std::string pattern = text.substr(colon + 1);
  FATHOM_ASSIGN(const Pattern wanted, pattern_of(pattern, text));
  FATHOM_ASSIGN(const std::string path, find_file(text.substr(0, colon)));
  FATHOM_ASSIGN(const std::vector<symbols::CodePlace> all, symbols::functions_of(path));
  const std::vector<std::string> names = names_of(all);
  std::vector<symbols::CodePlace> places;
  for (const std::size_t i : find_wanted(wanted, names)) places.push_back(all[i]);
  if (places.empty()) return nothing_found("function", pattern, path, names);
  settle_choices(path, all, places);
  // By place, the name that is to be shown first: the others of a place are left out below.
  std::ranges::sort(places, is_nearer);
  std::optional<std::uint64_t> last;
  for (const symbols::CodePlace& place : places) {
    if (last == place.offset) continue;
    last = place.offset;
    Function function{.file = path, .offset = place.offset, .name = demangle(place.name)};
    if (!returns_) {
      Judgement judgement = judge_.judge(path, place.name);
      function.times = judgement.times;
      function.why = std::move(judgement.why);
      // Go's functions may begin twice, after their stack was moved: behind that check each call
      // comes by once.
      if (judgement.is_go) function.offset += stack_check_at(path, place.offset);
    }
    found_.probed.push_back(std::move(function));
  }
  return {};
}

// Wildcards are those of a shell: providers and names are words.
Status Finder::add_static_probes(const std::string& text) {
  const std::vector<std::string_view> words = split(text, ':');  // usdt PATH PROVIDER NAME
  if (words.size() != 4 || words[1].empty() || words[2].empty() || words[3].empty())
    return malformed(text);
  const std::string wanted = std::string(words[2]) + ":" + std::string(words[3]);
  FATHOM_ASSIGN(const std::string path, find_file(std::string(words[1])));
  FATHOM_ASSIGN(const std::vector<symbols::CodePlace> places, symbols::static_probes_of(path));
  bool any = false;
  for (const symbols::CodePlace& place : places) {
    if (::fnmatch(wanted.c_str(), place.name.c_str(), 0) != 0) continue;
    any = true;
    found_.probed.push_back({.file = path,
                             .offset = place.offset,
                             .semaphore = place.semaphore,
                             .name = place.name,
                             .times = Times::kUnknown});
  }
  if (any) return {};
  return nothing_found("static probe", wanted, path, names_of(places));
}

struct Category {
  std::string name;
  std::string file;  // "": any
  Pattern wanted;
};

// (Colons of C++ come in pairs.)
Result<Category> read_category(const std::string& text) {
  const std::size_t equals = text.find('=');
  const Error malformed =
      usage_error("--categories '" + escape_control(text) + "' is not a category",
                  "write CATEGORY=NAME, CATEGORY=REGEX or CATEGORY=PATH:REGEX");
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return malformed;
  Category category{.name = text.substr(0, equals), .file = "", .wanted = {}};
  std::string pattern = text.substr(equals + 1);
  const std::size_t colon = pattern.find(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < pattern.size() &&
      pattern[colon + 1] != ':') {
    category.file = pattern.substr(0, colon);
    if (!is_of_kernel(pattern)) {
      FATHOM_ASSIGN(category.file, find_file(category.file));
    }
    pattern.erase(0, colon + 1);
  }
  Result<Pattern> wanted = read_pattern(pattern);
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
      return (one.file.empty() || one.file == function.file) && one.wanted.fits(function.name);
    });
    function.category =
        found != categories.end() ? found->name : "[" + std::string(base_name(function.file)) + "]";
  }
  return {};
}

}  // namespace

Result<Functions> find_functions(const std::vector<std::string>& texts,
                                 const std::vector<std::string>& categories, bool returns) {
  Finder finder(returns);
  for (const std::string& text : texts) FATHOM_TRY(finder.add(text));
  FATHOM_ASSIGN(Functions found, finder.take());
  FATHOM_TRY(set_categories(categories, found.probed));
  return found;
}

bool is_plain_program(const std::string& program) {
  return !StackJudge().trouble_of_program(program).has_value();
}

}  // namespace fathom::sources::ebpf

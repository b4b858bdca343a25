// SPDX-License-Identifier: MIT
// YAML knows numbers and flags, and guesses which text is one. Here every value is a text that its
// key reads, so that "1.10" and "no" mean what is written wherever a text is wanted.
#include "fleet/yaml_keys.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "base/utf8.h"

namespace fathom::fleet {

Error yaml_error(const std::string& file, const YAML::Mark& at, const std::string& what,
                 const char* hint) {
  return {Code::kInvalid,
          file + ":" + std::to_string(std::max(at.line, 0) + 1) + ":" +
              std::to_string(std::max(at.column, 0) + 1) + ": " + what,
          hint};
}

Error YamlKeys::wrong(const YAML::Mark& at, const std::string& what) const {
  return yaml_error(file_, at, what, rules_.hint);
}

Error YamlKeys::wrong(const YAML::Node& node, const std::string& what) const {
  return wrong(node.IsDefined() ? node.Mark() : YAML::Mark(), what);
}

Error YamlKeys::unknown_key(const YAML::Node& at, const std::string& what, const Keys& keys) const {
  const std::string key = at.IsScalar() ? at.Scalar() : "";
  std::vector<std::string_view> names;
  for (const auto& [name, read] : keys) names.push_back(name);
  const std::string_view near = rules_.suggestions ? nearest(key, names) : std::string_view();
  return wrong(at, "unknown key '" + escape_control(key) + "'" +
                       (what.empty() ? "" : " of " + what) +
                       (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"));
}

Status YamlKeys::read_mapping(const YAML::Node& node, const std::string& what,
                              const Keys& keys) const {
  if (!node.IsMap()) return wrong(node, what + " must be a mapping of keys to values");
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const auto known = entry.first.IsScalar() ? keys.find(entry.first.Scalar()) : keys.end();
    if (known == keys.end()) return unknown_key(entry.first, what, keys);
    if (!seen.insert(known->first).second)
      return wrong(entry.first, "'" + known->first + "' is given twice");
    if (rules_.values && entry.second.IsNull())
      return wrong(entry.first, "'" + known->first + "' needs a value");
    FATHOM_TRY(known->second(entry.second));
  }
  return {};
}

// A zero byte would cut whatever becomes a word of a command line.
Result<std::string> YamlKeys::text(const YAML::Node& value) const {
  if (!value.IsScalar()) return wrong(value, "this must be text");
  if (value.Scalar().find('\0') != std::string::npos)
    return wrong(value, "this must not hold a zero byte");
  if (rules_.utf8 && escape_invalid_utf8(value.Scalar()) != value.Scalar())
    return wrong(value, "this must be text in UTF-8");
  return value.Scalar();
}

YamlKeys::Read YamlKeys::flag_into(bool& place) const {
  return [this, &place](const YAML::Node& value) -> Status {
    FATHOM_ASSIGN(const std::string word, text(value));
    if (word != "true" && word != "false") return wrong(value, "this must be true or false");
    place = word == "true";
    return {};
  };
}

YamlKeys::Read YamlKeys::number_into(std::int64_t& place, std::int64_t least) const {
  return [this, &place, least](const YAML::Node& value) -> Status {
    constexpr std::int64_t kMost = 1'000'000;
    FATHOM_ASSIGN(const std::string word, text(value));
    const Result<std::int64_t> number = parse_int(word);
    if (!number || *number < least || *number > kMost)
      return wrong(value, "this must be a whole number from " + std::to_string(least) + " to " +
                              std::to_string(kMost));
    place = *number;
    return {};
  };
}

YamlKeys::Read YamlKeys::duration_into(std::int64_t& place, std::int64_t most) const {
  return [this, &place, most](const YAML::Node& value) -> Status {
    FATHOM_ASSIGN(const std::string word, text(value));
    const Result<std::int64_t> ns = parse_duration(word);
    if (!ns || *ns <= 0 || *ns > most)
      return wrong(value, "this must be a time, such as 90s or 10m");
    place = *ns;
    return {};
  };
}

}  // namespace fathom::fleet

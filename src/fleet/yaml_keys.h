// SPDX-License-Identifier: MIT
// Files of YAML that users write, read key by key: suites and instructions of containers. Each
// check stands beside the node that it is about, so that whatever is wrong is told with line and
// column.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

// What is asked of one kind of files.
struct YamlRules {
  const char* hint = "";     // of every error: where the format is described
  bool utf8 = false;         // texts are valid UTF-8
  bool values = false;       // a key without a value is an error by itself
  bool suggestions = false;  // an unknown key is answered with the nearest that is known
};

// "FILE:LINE:COLUMN: what is wrong"; yaml-cpp counts from 0, and is at -1 where it knows no place.
[[nodiscard]] Error yaml_error(const std::string& file, const YAML::Mark& at,
                               const std::string& what, const char* hint);

// What reads one file: a class that derives from it says which keys there are and where their
// values go. Functions named `…_into` give what reads one value; it keeps a reference to its place
// and to this object, so both must outlive read_mapping(). Objects without state of their own: any
// thread may use one, for one file. yaml-cpp throws; whoever calls from outside catches
// YAML::Exception.
class YamlKeys {
 protected:
  using Read = std::function<Status(const YAML::Node&)>;
  using Keys = std::map<std::string, Read, std::less<>>;

  // Both must outlive this.
  YamlKeys(const std::string& file, const YamlRules& rules) : file_(file), rules_(rules) {}

  [[nodiscard]] Error wrong(const YAML::Mark& at, const std::string& what) const;
  [[nodiscard]] Error wrong(const YAML::Node& node, const std::string& what) const;
  // Each key at most once, and none that is not in `keys`. `what` names the mapping in errors:
  // "a mount", "'limits'"; "": the file itself.
  Status read_mapping(const YAML::Node& node, const std::string& what, const Keys& keys) const;

  [[nodiscard]] Result<std::string> text(const YAML::Node& value) const;
  [[nodiscard]] Read flag_into(bool& place) const;
  // Up to a million: more of anything is a slip of the pen.
  [[nodiscard]] Read number_into(std::int64_t& place, std::int64_t least) const;
  // More than nothing, in ns.
  [[nodiscard]] Read duration_into(
      std::int64_t& place, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;

 private:
  [[nodiscard]] Error unknown_key(const YAML::Node& at, const std::string& what,
                                  const Keys& keys) const;

  const std::string& file_;
  const YamlRules& rules_;
};

}  // namespace fathom::fleet

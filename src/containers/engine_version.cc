// SPDX-License-Identifier: MIT
// Which version of the API is spoken.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "containers/engine.h"

namespace fathom::containers {
namespace {

struct Version {
  std::int64_t major = 0, minor = 0;
  auto operator<=>(const Version&) const = default;  // NOLINT(modernize-use-nullptr)
};

constexpr Version kLeast{1, 40};
constexpr Version kGreatest{1, 47};  // what has changed up to here is known

std::optional<Version> parse(std::string_view text) {
  const std::size_t point = text.find('.');
  const Result<std::int64_t> major = parse_int(text.substr(0, point));
  const Result<std::int64_t> minor =
      parse_int(point == std::string_view::npos ? "0" : text.substr(point + 1));
  if (!major || !minor) return std::nullopt;
  return Version{*major, *minor};
}

std::string text_of(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

}  // namespace

Result<std::string> agree_on_version(std::string_view least, std::string_view greatest) {
  const std::optional<Version> last = parse(greatest);
  const Version first = parse(least).value_or(Version{});
  if (!last)
    return Error{Code::kUnsupported, "the program that listens there is neither Docker nor Podman",
                 "name the engine's socket in DOCKER_HOST"};
  if (*last < kLeast)
    return Error{Code::kUnsupported,
                 "the container engine is too old: it speaks version " + text_of(*last) +
                     " of its API, and " + text_of(kLeast) + " is needed",
                 "use Docker 19.03 or later"};
  if (first > kGreatest)
    return Error{Code::kUnsupported,
                 "the container engine is too new: it speaks version " + text_of(first) +
                     " of its API and later, and Fathom " + text_of(kGreatest) + " at most",
                 "install a newer Fathom"};
  return text_of(std::min(*last, kGreatest));
}

}  // namespace fathom::containers

// SPDX-License-Identifier: MIT
// A table from the beginning of an error of Redis to our code and a hint. The code decides whether
// a sender tries again.
#include "fleet/redis/redis_errors.h"

#include <array>

#include "base/text.h"

namespace fathom::fleet {
namespace {

struct Known {
  std::string_view begins;
  Code code;
  const char* hint;
};

constexpr std::array kKnown = {
    Known{"OOM ", Code::kFull, "raise its maxmemory; then send it again"},
    Known{"MISCONF ", Code::kUnavailable, "its log says why it cannot write to its disk"},
    Known{"READONLY ", Code::kUnavailable,
          "this Redis is a replica: give the address of its master"},
    Known{"LOADING ", Code::kUnavailable, "it is loading its files; wait"},
    Known{"BUSY ", Code::kUnavailable, "a long-running Redis script blocks the server"},
    Known{"CLUSTERDOWN ", Code::kUnavailable, "redis-cli CLUSTER INFO says which part is missing"},
    Known{"MASTERDOWN ", Code::kUnavailable, ""},
    Known{"TRYAGAIN ", Code::kUnavailable, "keys move between its nodes; wait"},
    Known{"NOREPLICAS ", Code::kUnavailable, "it requires more replicas than are connected"},
    Known{"NOAUTH ", Code::kDenied, "give a password: FATHOM_REDIS_PASSWORD or a file"},
    Known{"WRONGPASS ", Code::kDenied, "check the user and the password"},
    Known{"NOPERM ", Code::kDenied, "docs/formats/jobs.md has the rights that Fathom needs"},
    Known{"DENIED ", Code::kDenied, "protected mode: give Redis a password, or use its socket"},
    Known{"WRONGTYPE ", Code::kCorrupt, "another program uses keys that begin with fathom:"},
    Known{"ERR max number of clients", Code::kUnavailable, "raise its maxclients"},
    Known{"ERR invalid DB index", Code::kInvalid, "it has fewer databases"},
    Known{"ERR DB index is out of range", Code::kInvalid, "it has fewer databases"},
    Known{"ERR SELECT is not allowed", Code::kInvalid, "a cluster has only database 0"},
    Known{"ERR Client sent AUTH", Code::kInvalid, "this Redis has no password: give none"},
    Known{"ERR AUTH", Code::kInvalid, "this Redis has no password: give none"},
};

}  // namespace

Error redis_error(std::string_view text) {
  constexpr std::size_t kShown = 300;
  const std::string words = "Redis: " + escape_control(text.substr(0, kShown));
  if (text.find("No space left on device") != std::string_view::npos)
    return {Code::kFull, words, "make room on the disk of Redis; then send it again"};
  for (const Known& known : kKnown)
    if (text.starts_with(known.begins)) return {known.code, words, known.hint};
  return {Code::kIo, words, ""};
}

}  // namespace fathom::fleet

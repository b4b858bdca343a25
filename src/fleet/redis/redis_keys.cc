// SPDX-License-Identifier: MIT
// Builds key names and takes index entries apart. docs/formats/jobs.md describes each key and its
// type.
#include "fleet/redis/redis_keys.h"

namespace fathom::fleet {
namespace {

// Zeros in a node's name are told from the end of it; all of it sorts as before.
constexpr std::string_view kEnd("\0\1", 2);
constexpr std::string_view kZero("\0\xff", 2);

std::string without_colons(std::string_view exec) {
  std::string out;
  for (const char c : exec) {
    if (c == '%') {
      out += "%25";
    } else if (c == ':') {
      out += "%3A";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

RedisKeys::RedisKeys(std::string_view name) : prefix("fathom:{" + std::string(name) + "}:") {
  job = prefix + "job";
  token = prefix + "token";
  nodes = prefix + "nodes";
  senders = prefix + "senders";
  kinds = prefix + "kinds";
  bound = prefix + "bound";
  verdict = prefix + "verdict";
}

std::string RedisKeys::node(std::string_view node, std::string_view exec) const {
  std::string key = prefix + "node:" + without_colons(exec) + ":";
  key += node;
  return key;
}

std::string RedisKeys::sent(std::string_view sender) const {
  return prefix + "sent:" + std::string(sender);
}

std::string RedisKeys::records(std::string_view kind) const {
  return prefix + "records:" + std::string(kind);
}

std::string index_of(std::string_view node, std::string_view exec) {
  std::string index;
  index.reserve(node.size() + exec.size() + kEnd.size());
  for (const char c : node) {
    if (c == '\0') {
      index += kZero;
    } else {
      index += c;
    }
  }
  index += kEnd;
  index += exec;
  return index;
}

bool read_index(std::string_view index, std::string& node, std::string& exec) {
  const std::size_t end = index.find(kEnd);
  if (end == std::string_view::npos) return false;
  node.clear();
  for (std::size_t at = 0; at < end; ++at) {
    node += index[at];
    if (index[at] == '\0') ++at;
  }
  exec = index.substr(end + kEnd.size());
  return true;
}

std::string digits_of(std::int64_t number) {
  constexpr std::size_t kDigits = 19;
  const std::string text = std::to_string(number);
  return std::string(kDigits - text.size(), '0') + text;
}

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// Parses by itself and not by the parser of the other commands: these programs take long options
// alone, each with a value, and refuse a word that they do not know.
#include "cli/fleet/old_words.h"

#include <algorithm>

#include "base/text.h"

namespace fathom::cli {

std::string OldWords::value(std::string_view name, std::string_view otherwise) const {
  const auto found = options.find(name);
  return found == options.end() ? std::string(otherwise) : found->second;
}

Result<OldWords> parse_old_words(const std::vector<std::string>& words,
                                 std::span<const std::string_view> known) {
  OldWords parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      parsed.tail.assign(words.begin() + static_cast<long>(i) + 1, words.end());
      break;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (std::ranges::find(known, name) == known.end()) {
      std::string all;
      for (const std::string_view one : known) all += (all.empty() ? "" : " ") + std::string(one);
      return usage_error("unknown option '" + escape_control(word) + "'",
                         "its options are: " + all);
    }
    if (equals == std::string::npos && i + 1 == words.size())
      return usage_error("option " + name + " needs a value");
    parsed.options[name] = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
  }
  return parsed;
}

Result<std::string> old_server_url(const OldWords& words) {
  std::string host = words.value("--bind", "localhost");
  const std::string port = words.value("--port", "10000");
  const Result<std::int64_t> number = parse_int(port);
  if (!number || *number < 0 || *number > 65535)
    return usage_error("--port '" + escape_control(port) + "' is not a port",
                       "use a number from 0 to 65535");
  if (host.starts_with("http://") || host.starts_with("https://")) return host + ":" + port;
  if (host == "localhost") host = "127.0.0.1";  // where the server listens
  const bool here = host.starts_with("127.") || host == "::1" || host == "[::1]";
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
  return (here ? "http://" : "https://") + host + ":" + port;
}

Result<std::string> old_job_number(const std::string& text) {
  const Result<std::int64_t> number = parse_int(text);
  if (number && *number >= 2001 && *number <= 9999 && text.size() == 4) return text;
  return usage_error("--jobid '" + escape_control(text) + "' cannot be used",
                     "take a number from 2001 to 9999; 'fathom job create' takes names");
}

}  // namespace fathom::cli

// SPDX-License-Identifier: MIT
// Tells a URL or recording:NAME from a path, and takes the server and the name apart. It asks no
// server: whether the recording is there is found out when it is opened.
#include "fleet/recordings/far_word.h"

#include "base/text.h"
#include "fleet/http/http_url.h"
#include "fleet/model.h"

namespace fathom::fleet {
namespace {

Error no_recording(std::string_view word) {
  return usage_error("'" + escape_control(word.substr(0, 200)) + "' names no recording of a server",
                     "write URL/recordings/NAME; 'fathom job recordings --server URL' lists them");
}

}  // namespace

bool is_far_word(std::string_view word) {
  return word.starts_with("http://") || word.starts_with("https://") ||
         word.starts_with(kFarScheme);
}

Result<FarWord> parse_far_word(std::string_view word) {
  if (word.starts_with(kFarScheme)) {
    FarWord found{"", std::string(word.substr(kFarScheme.size()))};
    return is_job_name(found.name) ? Result<FarWord>(found) : no_recording(word);
  }
  std::string_view rest = word;
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t slash = rest.rfind('/');
  const std::size_t host = rest.find("://");
  if (host == std::string_view::npos || slash < host + 3) return no_recording(word);
  FarWord found{"", std::string(rest.substr(slash + 1))};
  rest = rest.substr(0, slash);
  for (const std::string_view folder : {"/recordings", "/api/v1"}) {
    if (rest.ends_with(folder)) rest.remove_suffix(folder.size());
  }
  found.server = rest;
  if (!is_job_name(found.name) || found.name == "recordings") return no_recording(word);
  FATHOM_TRY(parse_http_url(found.server));
  return found;
}

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// The strict look at a request's head, before any other reader sees it. Where two readers could
// understand a length differently, an attacker could hide a request in the body of another: such a
// head is refused whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "fleet/http/http_head.h"

namespace fathom::fleet {

struct RequestHead {
  HttpHead head;
  std::uint64_t length = 0;  // of the body; 0 where it is chunked
  bool chunked = false;
  bool keeps_open = true;  // the connection, after the answer
  bool expects_continue = false;
};

struct HeadFault {
  int status = 400;
  std::string_view what;
};

// `text` ends with the empty line.
struct HeadOutcome {
  RequestHead request;
  std::optional<HeadFault> fault;
};
[[nodiscard]] HeadOutcome parse_head(std::string_view text);

// The first line as soon as it is there, without its end: whether it is worth waiting for more.
[[nodiscard]] std::optional<HeadFault> check_first_line(std::string_view line);

}  // namespace fathom::fleet

// SPDX-License-Identifier: MIT
// Any bytes as the headers by which browsers say who they are. Lines are headers; what is let in
// must have a Host of ours, and an Origin of the same name where it has one. A server that frees
// programs looks at the Host of whoever has a cookie.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "serve/http/admission.h"
#include "serve/http/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  using namespace fathom::serve;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Head head{"GET", "/api/v1/page", {}};
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    head.headers.push_back(
        {std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1)))});
  }
  static const Admission admission = admission_for("127.0.0.1", false);
  if (!refuse_stranger(admission, head)) {
    const std::string host = fleet::host_name(head.header("host"));
    if (host != "localhost" && host != "127.0.0.1" && host != "[::1]") std::abort();
    const std::string_view origin = head.header("origin");
    if (!origin.empty() && origin != "null" && !origin.ends_with(head.header("host")) &&
        !same_letters(origin.substr(origin.find("//") + 2), head.header("host")))
      std::abort();
  }
  const Admission server{.hosts = {.names = {"localhost"}}, .frees_programs = true, .cookie = "a"};
  const bool has_cookie = !cookie_values(head, "a").empty();
  if (refuse_stranger(server, head, /*is_program=*/true)) std::abort();
  if (has_cookie && !refuse_stranger(server, head) &&
      fleet::host_name(head.header("host")) != "localhost")
    std::abort();
  std::map<std::string, std::string> form;
  (void)parse_query(text, form);
  return 0;
}

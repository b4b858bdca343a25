// SPDX-License-Identifier: MIT
// Headers that only browsers send are refused where they are foreign, and not asked for where they
// are missing: programs with a token of their own send none.
#include "serve/http/admission.h"

#include "base/text.h"

namespace fathom::serve {
namespace {

bool looks_at_host(const Admission& admission, const Head& head) {
  if (admission.hosts.names.empty()) return false;
  return !admission.frees_programs || !cookie_values(head, admission.cookie).empty();
}

bool is_api(std::string_view target) { return target.starts_with("/api/"); }

// A form of our own page says "null": it is told to name no referrer.
bool is_own_origin(const Head& head) {
  const std::string_view origin = head.header("origin");
  if (origin == "null") return head.header("sec-fetch-site") == "same-origin";
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme))
      return same_letters(origin.substr(scheme.size()), head.header("host"));
  }
  return false;
}

bool is_own_site(const Head& head) {
  const std::string_view site = head.header("sec-fetch-site");
  return site.empty() || site == "same-origin" || site == "none";
}

}  // namespace

Admission admission_for(const std::string& listen_host, bool is_unspecified) {
  return {.hosts = fleet::host_names_for(listen_host, is_unspecified)};
}

std::optional<Response> refuse_stranger(const Admission& admission, const Head& head,
                                        bool is_program) {
  if (admission.frees_programs && is_program) return std::nullopt;
  if (looks_at_host(admission, head) && !admission.hosts.fit(head))
    return refusal(421,
                   "this server is not known by the name in the header Host; use the address that "
                   "it printed, or give fathom server its names (--name)",
                   "host");
  if (head.count("origin") > 0 && (head.count("origin") > 1 || !is_own_origin(head)))
    return refusal(403, "requests of pages from elsewhere (header Origin) are refused", "origin");
  if (is_api(head.target) && !is_own_site(head))
    return refusal(403, "requests of pages from elsewhere (header Sec-Fetch-Site) are refused",
                   "origin");
  return std::nullopt;
}

std::vector<std::string_view> cookie_values(const Head& head, std::string_view name) {
  std::vector<std::string_view> found;
  if (name.empty()) return found;
  for (const Header& header : head.headers) {
    if (!same_letters(header.name, "cookie")) continue;
    for (const std::string_view pair : split(header.value, ';')) {
      const std::string_view text = trim(pair);
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos || text.substr(0, equals) != name) continue;
      found.push_back(text.substr(equals + 1));
    }
  }
  return found;
}

Header set_cookie(const Admission& admission, const std::string& value) {
  return {"Set-Cookie", admission.cookie + "=" + value + "; Path=/; HttpOnly; SameSite=Strict" +
                            (admission.is_secure ? "; Secure" : "")};
}

}  // namespace fathom::serve

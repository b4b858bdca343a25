// SPDX-License-Identifier: MIT
// Headers that only browsers send are refused where they are foreign, and not asked for where they
// are missing: programs with a token of their own send none.
#include "serve/admission.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fathom::serve {
namespace {

constexpr std::string_view kLoopback[] = {"localhost", "127.0.0.1", "[::1]"};

std::string small(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_number(std::string_view host) {
  if (host.starts_with('[')) return true;
  const std::vector<std::string_view> parts = split(host, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= 3 && is_digits(part);
         });
}

std::string own_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? small(name.data()) : "";
}

bool is_known(const Admission& admission, const std::string& host) {
  return std::ranges::find(admission.hosts, host) != admission.hosts.end() ||
         (admission.any_number && is_number(host));
}

// As many as there are: only one is no trick.
std::size_t count_of(const Head& head, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count_if(
      head.headers, [&](const Header& header) { return same_letters(header.name, name); }));
}

bool looks_at_host(const Admission& admission, const Head& head) {
  if (admission.hosts.empty()) return false;
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

std::string host_name(std::string_view header) {
  std::string_view host = header;
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    port = host.substr(end + 1);
    host = host.substr(0, end + 1);
  } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (!port.empty() && (port[0] != ':' || port.size() > 6 || !is_digits(port.substr(1)))) return {};
  return small(host);
}

Admission admission_for(const std::string& listen_host, bool is_unspecified) {
  Admission admission;
  for (const std::string_view name : kLoopback) admission.hosts.emplace_back(name);
  admission.any_number = is_unspecified;
  add_host(admission, is_unspecified ? own_name() : listen_host);
  return admission;
}

void add_host(Admission& admission, const std::string& name) {
  std::string host = small(name);
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
  if (!host.empty()) admission.hosts.push_back(std::move(host));
}

std::optional<Response> refuse_stranger(const Admission& admission, const Head& head,
                                        bool is_program) {
  if (admission.frees_programs && is_program) return std::nullopt;
  if (looks_at_host(admission, head) &&
      (count_of(head, "host") != 1 || !is_known(admission, host_name(head.header("host")))))
    return refusal(421,
                   "this server is not known by the name in the header Host; use the address that "
                   "it printed, or give fathom server its names (--name)",
                   "host");
  if (count_of(head, "origin") > 0 && (count_of(head, "origin") > 1 || !is_own_origin(head)))
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

// SPDX-License-Identifier: MIT
// Which requests of browsers are refused whatever token they have. A page of somebody else's can
// make a browser send requests to us; that browser says from where (Origin, Sec-Fetch-Site), and to
// whom it believes to speak (Host, fleet/http/host_names.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/http/host_names.h"
#include "serve/http/http.h"

namespace fathom::serve {

// How one server looks at browsers; empty, it looks at nothing.
struct Admission {
  fleet::HostNames hosts = {};  // that a Host header may have; none are looked at without names
  // Programs with a token may use any name; the Host is looked at where the cookie comes along.
  bool frees_programs = false;
  std::string cookie = {};  // the name of the page's cookie; "": there is none
  bool is_secure = false;   // behind TLS: the cookie is for that alone
};

// Loopback names, and what somebody listens at.
[[nodiscard]] Admission admission_for(const std::string& listen_host, bool is_unspecified);

// Why this request is none of ours; nullopt: it may go on. `is_program`: it has a token.
[[nodiscard]] std::optional<Response> refuse_stranger(const Admission& admission, const Head& head,
                                                      bool is_program = false);

// All values of a cookie: browsers send those of every port of a host, so others may have set one.
[[nodiscard]] std::vector<std::string_view> cookie_values(const Head& head, std::string_view name);

// The header that gives a cookie to a browser.
[[nodiscard]] Header set_cookie(const Admission& admission, const std::string& value);

}  // namespace fathom::serve

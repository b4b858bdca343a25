// SPDX-License-Identifier: MIT
// Which requests of browsers are refused whatever token they have. A page of somebody else's can
// make a browser send requests to us; that browser says from where (Origin, Sec-Fetch-Site), and to
// whom it believes to speak (Host: another name that leads to our address is an attack).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http.h"

namespace fathom::serve {

struct Admission {
  // Names that a Host header may have, without port and in small letters: none are looked at where
  // this is empty.
  std::vector<std::string> hosts = {};
  bool any_number = false;  // and addresses as numbers, which no name server can be asked for
  std::string cookie = {};  // the name of the page's cookie; "": there is none
  bool is_secure = false;   // behind TLS: the cookie is for that alone
};

// Loopback names, and what somebody listens at.
[[nodiscard]] Admission admission_for(const std::string& listen_host, bool is_unspecified);

// Why this request is none of ours; nullopt: it may go on.
[[nodiscard]] std::optional<Response> refuse_stranger(const Admission& admission, const Head& head);

// "127.0.0.1:80" and "[::1]:80" without their port, in small letters; "" for what is no host.
[[nodiscard]] std::string host_name(std::string_view header);

// The value of a cookie; "" where there is none, or more than one.
[[nodiscard]] std::string_view cookie_value(const Head& head, std::string_view name);

// The header that gives a cookie to a browser.
[[nodiscard]] Header set_cookie(const Admission& admission, const std::string& value);

}  // namespace fathom::serve

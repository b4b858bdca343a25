// SPDX-License-Identifier: MIT
// By which names a server of ours may be asked (header Host). A page of somebody else's can have a
// name that leads to our address; the browser that shows it says that name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/http/http_head.h"

namespace fathom::fleet {

// A plain value; empty, it fits nothing.
struct HostNames {
  std::vector<std::string> names = {};  // without port and in small letters
  bool any_number = false;  // and addresses as numbers, which no name server can be asked for

  void add(const std::string& name);
  // Whether the request has one Host, which is one of these.
  [[nodiscard]] bool fit(const HttpHead& head) const;
};

// Loopback names, and what somebody listens at.
[[nodiscard]] HostNames host_names_for(const std::string& listen_host, bool is_unspecified);

// "127.0.0.1:80" and "[::1]:80" without their port, in small letters; "" for what is no host.
[[nodiscard]] std::string host_name(std::string_view header);

}  // namespace fathom::fleet

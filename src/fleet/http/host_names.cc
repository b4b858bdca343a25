// SPDX-License-Identifier: MIT
// Names are compared, never looked up: the answer of a name server is what an attacker chooses.
#include "fleet/http/host_names.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fathom::fleet {
namespace {

constexpr std::string_view kLoopback[] = {"localhost", "127.0.0.1", "[::1]"};

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
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
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
  return small_letters(host);
}

HostNames host_names_for(const std::string& listen_host, bool is_unspecified) {
  HostNames made{.any_number = is_unspecified};
  for (const std::string_view name : kLoopback) made.names.emplace_back(name);
  made.add(is_unspecified ? own_name() : listen_host);
  return made;
}

void HostNames::add(const std::string& name) {
  std::string host = small_letters(name);
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
  if (!host.empty()) names.push_back(std::move(host));
}

bool HostNames::fit(const HttpHead& head) const {
  if (head.count("host") != 1) return false;
  const std::string host = host_name(head.header("host"));
  return std::ranges::find(names, host) != names.end() || (any_number && is_number(host));
}

}  // namespace fathom::fleet

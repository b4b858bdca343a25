// SPDX-License-Identifier: MIT
// What files of a control group, and of its network, say. Pure functions over text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::sources {

struct Transfers {
  double read = 0, written = 0;
};
// blkio.throttle.io_service_bytes and io_serviced of version 1: "8:0 Read 4096".
[[nodiscard]] Transfers parse_blkio(std::string_view text);
// io.stat of version 2: "8:0 rbytes=4096 wbytes=0 rios=1 wios=0".
struct IoStat {
  Transfers bytes, calls;
};
[[nodiscard]] IoStat parse_io_stat(std::string_view text);

// cpuacct.usage_percpu: ns by CPU. Nothing where it is something else.
[[nodiscard]] std::vector<std::uint64_t> parse_usage_by_cpu(std::string_view text);

// cpu.pressure and the like: microseconds in which some task waited.
[[nodiscard]] std::optional<std::uint64_t> parse_pressure(std::string_view text);

// cpu.max: cores; nothing where there is no limit.
[[nodiscard]] std::optional<double> parse_cpu_max(std::string_view text);

// /proc/PID/net/dev by interface, without the loopback.
struct Traffic {
  std::uint64_t received = 0, sent = 0;
};
[[nodiscard]] std::map<std::string, Traffic> parse_net_dev(std::string_view text);

}  // namespace fathom::sources

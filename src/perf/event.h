// SPDX-License-Identifier: MIT
// Names of events, as perf prints them and users type them, and what the kernel wants for each.
//
//   cycles  page-faults:u  L1-dcache-load-misses  r01c2  cpu/event=0x3c,umask=1/u
//   sched:sched_switch     {instructions,cycles}:u         any name of libpfm4, if it is installed
//
// A name that is known does not mean that it can be counted here: open.h finds out by trying.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::perf {

// One event as it was typed, and as the kernel takes it. Plain values: nothing is open.
struct Event {
  std::string name;  // as it was typed, with its modifiers
  std::uint32_t type = PERF_TYPE_SOFTWARE;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  // Modifiers.
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hv = false;
  bool exclude_idle = false;
  bool exclude_host = false;
  bool exclude_guest = false;
  bool pinned = false;
  bool exclusive = false;
  std::uint32_t precise = 0;  // 0 to 3
  // The value times `scale` is in `unit`.
  std::string unit;  // "ns" for clocks; "" for plain numbers
  double scale = 1;
  // Why it cannot be opened, where that is known before trying (a tracepoint without tracefs), and
  // the line that changes it.
  std::string reason;
  std::string fix;

  [[nodiscard]] bool is_software() const { return type == PERF_TYPE_SOFTWARE; }
  // Whether the CPU's own counters are needed.
  [[nodiscard]] bool is_hardware() const;
  // Whether it only ever happens inside the kernel (a context switch): without the kernel, the
  // kernel would count 0.
  [[nodiscard]] bool happens_in_kernel() const;
  // Whether what is excluded makes no difference: the kernel's clocks tick whatever runs.
  [[nodiscard]] bool is_clock() const;

  // Type, configuration and modifiers; everything else is 0, and the size is set.
  [[nodiscard]] perf_event_attr attr() const;
};

// Events between braces are counted at the same times, so that their ratios are true.
struct EventGroup {
  std::vector<Event> events;  // at least one
};

// Where the kernel describes its events.
struct Places {
  std::string devices = "/sys/bus/event_source/devices";
  std::vector<std::string> tracing = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
};

// A list as `-e` takes it. A usage error names what is wrong, and names that are near.
Result<std::vector<EventGroup>> parse_events(std::string_view text, const Places& places = {});
// The same, one by one: whoever counts each by itself has no use for groups. "": none.
Result<std::vector<Event>> parse_each(std::string_view text, const Places& places = {});
// One event.
Result<Event> parse_event(std::string_view text, const Places& places = {});

// All names of the built-in table: the kernel's generic hardware, cache and software events.
[[nodiscard]] const std::vector<std::string>& generic_names();

}  // namespace fathom::perf

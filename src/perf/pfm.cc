// SPDX-License-Identifier: MIT
// libpfm4's interface is declared here, so that building needs no package of it.
#include "perf/pfm.h"

#include <dlfcn.h>

#include <cstddef>

namespace fathom::perf {
namespace {

constexpr int kUserAndKernel = 8 | 1;  // PFM_PLM3 | PFM_PLM0
constexpr int kPerfEventExtended = 2;  // PFM_OS_PERF_EVENT_EXT: modifiers of perf's too
constexpr int kSuccess = 0;

// pfm_perf_encode_arg_t
struct Encoding {
  perf_event_attr* attr;
  char** full_name;
  std::size_t size;
  int index;
  int cpu;
  int flags;
};

using Initialize = int (*)();
using Encode = int (*)(const char* name, int levels, int system, void* encoding);

// nullptr where the library is not there, or does not know the CPU.
Encode encoder() {
  static const Encode encode = []() -> Encode {
    void* const library = ::dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    const auto initialize = reinterpret_cast<Initialize>(::dlsym(library, "pfm_initialize"));
    if (initialize == nullptr || initialize() != kSuccess) return nullptr;
    return reinterpret_cast<Encode>(::dlsym(library, "pfm_get_os_event_encoding"));
  }();
  return encode;
}

}  // namespace

std::optional<Event> pfm_event(const std::string& name) {
  const Encode encode = encoder();
  if (encode == nullptr) return std::nullopt;
  perf_event_attr attr{};
  attr.size = sizeof attr;
  Encoding encoding{.attr = &attr,
                    .full_name = nullptr,
                    .size = sizeof(Encoding),
                    .index = 0,
                    .cpu = 0,
                    .flags = 0};
  if (encode(name.c_str(), kUserAndKernel, kPerfEventExtended, &encoding) != kSuccess)
    return std::nullopt;
  Event event;
  event.name = name;
  event.type = attr.type;
  event.config = attr.config;
  event.config1 = attr.config1;
  event.config2 = attr.config2;
  event.exclude_user = attr.exclude_user != 0;
  event.exclude_kernel = attr.exclude_kernel != 0;
  event.exclude_hv = attr.exclude_hv != 0;
  event.exclude_guest = attr.exclude_guest != 0;
  event.exclude_host = attr.exclude_host != 0;
  event.precise = static_cast<std::uint32_t>(attr.precise_ip);
  if (event.is_clock()) event.unit = "ns";
  return event;
}

}  // namespace fathom::perf

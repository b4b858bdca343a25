// SPDX-License-Identifier: MIT
// Chooses the clock of a run. The CPU's counter is used only where both the CPU and the kernel call
// it steady; otherwise CLOCK_MONOTONIC.
#include "session/run_header.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "base/ids.h"
#include "base/private_files.h"
#include "base/text.h"
#include "trace/rows/clock.h"
#include "trace/spool/spool.h"

namespace fathom::session {
namespace {

constexpr std::uint64_t kMostSpool = std::uint64_t{4} << 30;

#if defined(__x86_64__)
bool counter_is_invariant() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
}

// The kernel watches the counter, and leaves it for another clock when it finds it unsteady.
bool kernel_trusts_counter() {
  const Result<std::string> source =
      read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source && trim(*source) == "tsc";
}
#endif

// The three clocks at one moment: the closest of several tries, since the scheduler may come
// between two readings.
void read_clocks(fathom_run_header& header) {
  std::int64_t closest = INT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::int64_t before = now_monotonic_ns();
    const std::uint64_t tick = trace::Clock::now_tick(header.tick_source);
    const std::int64_t realtime = now_realtime_ns();
    const std::int64_t after = now_monotonic_ns();
    if (after - before >= closest) continue;
    closest = after - before;
    header.start_tick = tick;
    header.start_monotonic_ns = static_cast<std::uint64_t>(before);
    header.start_realtime_ns = static_cast<std::uint64_t>(realtime);
  }
}

// Only the monotonic clock is known of another moment.
void move_start(std::int64_t start_ns, fathom_run_header& header) {
  const auto start = static_cast<std::uint64_t>(start_ns);
  header.tick_source = FATHOM_TICK_MONOTONIC_NS;
  header.start_realtime_ns += start - header.start_monotonic_ns;
  header.start_tick = header.start_monotonic_ns = start;
}

void copy_text(const std::string& text, char* to, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, text.data(), std::min(text.size(), size - 1));
}

void set_run_id(fathom_run_header& header) {
  const std::string digits = random_id();
  for (std::size_t i = 0; i < sizeof header.run_id; ++i) {
    header.run_id[i] = static_cast<std::uint8_t>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  }
}

Result<std::uint64_t> budget(const std::string& directory, std::uint64_t asked) {
  if (asked != 0) return asked;
  FATHOM_ASSIGN(const std::uint64_t free, free_space(directory));
  // 0 would mean no limit.
  return std::max<std::uint64_t>(1, std::min(kMostSpool, free / 2));
}

}  // namespace

#if defined(__x86_64__)
std::uint32_t choose_tick_source() {
  return counter_is_invariant() && kernel_trusts_counter() ? FATHOM_TICK_COUNTER
                                                           : FATHOM_TICK_MONOTONIC_NS;
}

std::string describe_tick_source() {
  if (!counter_is_invariant()) return "clock_gettime (the CPU's counter is not invariant)";
  if (!kernel_trusts_counter()) return "clock_gettime (the kernel does not use the CPU's counter)";
  return "rdtsc (invariant)";
}
#elif defined(__aarch64__)
std::uint32_t choose_tick_source() { return FATHOM_TICK_COUNTER; }
std::string describe_tick_source() { return "cntvct_el0"; }
#else
std::uint32_t choose_tick_source() { return FATHOM_TICK_MONOTONIC_NS; }
std::string describe_tick_source() { return "clock_gettime"; }
#endif

Result<fathom_run_header> make_spool(const std::string& directory, const HeaderOptions& options) {
  const std::string spool = join_path(directory, trace::kSpoolDirectory);
  FATHOM_TRY(make_inner_dir(spool));
  fathom_run_header header{};
  header.magic = FATHOM_RUN_MAGIC;
  header.version = FATHOM_WIRE_VERSION;
  header.tick_source = choose_tick_source();
  set_run_id(header);
  FATHOM_ASSIGN(header.spool_max, budget(directory, options.spool_max));
  header.when_full = options.block_when_full ? FATHOM_WHEN_FULL_BLOCK : FATHOM_WHEN_FULL_DROP;
  header.interval_ns = static_cast<std::uint64_t>(options.interval_ns);
  header.supervised = 1;
  header.creator_pid = static_cast<std::uint32_t>(getpid());
  header.pid_namespace = trace::own_pid_namespace();
  header.uid = getuid();
  const HostFacts& facts = this_host();
  copy_text(facts.boot_id, header.boot_id, sizeof header.boot_id);
  copy_text(facts.hostname, header.host, sizeof header.host);
  read_clocks(header);
  if (options.start_monotonic_ns != 0) move_start(options.start_monotonic_ns, header);
  std::string page(FATHOM_RUN_HEADER_SIZE, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  FATHOM_TRY(write_private_atomic(join_path(spool, FATHOM_RUN_FILE), page));
  return header;
}

}  // namespace fathom::session

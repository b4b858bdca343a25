// SPDX-License-Identifier: MIT
// A pid alone proves nothing, as pids are reused: the start time from /proc must fit the first
// record. For other machines only the age of the files tells.
#include "trace/spool/liveness.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "base/text.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kStartSlack =
    200000000;  // ns: /proc rounds to 10 ms, and the clocks differ a little
constexpr std::int64_t kDateSlack = 60000000000;  // ns: dates are set and corrected

std::int64_t boottime_ahead_of_monotonic() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec - now_monotonic_ns();
}

// Fields of /proc/<pid>/stat behind the name, which may hold anything; the state is the first.
std::vector<std::string_view> stat_fields(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return {};
  return split(std::string_view(stat).substr(name_end + 2), ' ');
}

std::string_view bounded(const char* text, std::size_t room) { return {text, strnlen(text, room)}; }

}  // namespace

Liveness::Liveness(const fathom_run_header& run, Clock clock, std::string proc)
    : proc_(std::move(proc)),
      spaces_(run.pid_namespace, run.supervised != 0, proc_),
      clock_(std::move(clock)) {
  const HostFacts& here = this_host();
  start_boottime_ns_ = static_cast<std::int64_t>(run.start_monotonic_ns & (UINT64_MAX >> 2)) +
                       boottime_ahead_of_monotonic();
  const std::string_view boot = bounded(run.boot_id, sizeof run.boot_id);
  if (boot.empty() || boot == here.boot_id) {
    if (!spaces_.sees_home()) machine_ = Machine::kAnother;
    return;
  }
  const bool same_host = bounded(run.host, sizeof run.host) == here.hostname;
  machine_ = same_host ? Machine::kEarlierBoot : Machine::kAnother;
}

bool is_recent(std::int64_t realtime_ns) {
  const std::int64_t now = now_realtime_ns();
  return realtime_ns > now - kLeaseNs && realtime_ns < now + kLeaseNs;
}

void Liveness::all_ended() {
  ended_ = true;
  if (elsewhere()) machine_ = Machine::kEarlierBoot;
}

void Liveness::saw(const Pid& pid, std::uint64_t key, std::uint64_t tick) {
  std::uint64_t& latest = images_[pid][key];
  latest = std::max(latest, tick);
}

bool Liveness::ambiguous(const Pid& pid) const {
  const auto images = images_.find(pid);
  return images != images_.end() && images->second.size() > 1;
}

const Liveness::Seen& Liveness::look(std::uint32_t pid) const {
  const auto known = seen_.find(pid);
  if (known != seen_.end()) return known->second;
  Seen& seen = seen_[pid];
  const Result<std::string> stat = read_file(join_path(proc_, std::to_string(pid) + "/stat"));
  // Where /proc is hidden from us (hidepid), a signal of number 0 tells.
  seen.there = stat || ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
  if (!stat) return seen;
  const std::vector<std::string_view> fields = stat_fields(*stat);
  if (fields.size() < 20) return seen;
  // A zombie writes no more, unless only its first thread has ended.
  const bool ended = fields[0] == "Z" || fields[0] == "X";
  const Result<std::int64_t> threads = parse_int(fields[17]);
  if (ended && threads && *threads <= 1) seen.there = false;
  const Result<std::int64_t> start = parse_int(fields[19]);
  if (start) seen.started_boottime_ns = *start * (1000000000 / sysconf(_SC_CLK_TCK));
  return seen;
}

std::uint64_t Liveness::known_tick(const Pid& pid, std::uint64_t key) const {
  const auto images = images_.find(pid);
  if (images == images_.end()) return 0;
  const auto image = images->second.find(key);
  return image == images->second.end() ? 0 : image->second;
}

Life Liveness::life_since(const Pid& pid, std::uint64_t key, std::int64_t realtime_ns) const {
  const Life life = this->life(pid, key, 0);
  if (life != Life::kLives || realtime_ns <= 0 || known_tick(pid, key) != 0) return life;
  // A pid that was given again: its process began after the moment at which ours lived.
  const std::int64_t now_boottime = now_monotonic_ns() + boottime_ahead_of_monotonic();
  const std::int64_t then = now_boottime - (now_realtime_ns() - realtime_ns);
  const PidSpaces::Here here = spaces_.find(pid, key);
  const bool fits = here.pids.empty() || std::ranges::any_of(here.pids, [&](std::uint32_t one) {
                      return look(one).there && look(one).started_boottime_ns <= then + kDateSlack;
                    });
  return fits ? Life::kLives : Life::kGone;
}

bool Liveness::started_before(std::uint32_t pid, std::uint64_t tick) const {
  const __int128 then = static_cast<__int128>(start_boottime_ns_) + clock_.ns(tick);
  return look(pid).started_boottime_ns <= then + kStartSlack;
}

Life Liveness::life(const Pid& pid, std::uint64_t key, std::uint64_t tick) const {
  const Life unseen = ended_ || deserted_ ? Life::kGone : Life::kUnseen;
  if (machine_ == Machine::kEarlierBoot) return Life::kGone;
  if (elsewhere()) return unseen;
  if (pid.number == 0 || pid.number > INT32_MAX)
    return pid.number == 0 ? Life::kLives : Life::kGone;
  if (tick == 0) tick = known_tick(pid, key);
  const PidSpaces::Here here = spaces_.find(pid, key);
  const bool there = std::ranges::any_of(here.pids, [&](std::uint32_t one) {
    return look(one).there && (tick == 0 || started_before(one, tick));
  });
  if (!there) return here.hidden ? unseen : Life::kGone;
  const auto images = images_.find(pid);
  if (tick == 0 || images == images_.end()) return Life::kLives;
  // The process is there, but as another program by now.
  const bool replaced = std::ranges::any_of(
      images->second, [&](const auto& image) { return image.first != key && image.second > tick; });
  return replaced ? Life::kGone : Life::kLives;
}

}  // namespace fathom::trace

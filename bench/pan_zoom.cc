// SPDX-License-Identifier: MIT
// How long a window of the timeline takes, while somebody moves and zooms through a recording:
//
//   pan_zoom RECORDING [STEPS [WIDTH]]
//
// Makes the index, then walks at random, as a hand at the mouse does: most steps move by a part of
// the window, some zoom in or out, some jump. Each step asks for the boxes of all tracks that a
// screen shows and writes them as the server does. Prints one JSON object.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "analysis/canvas/canvas.h"
#include "analysis/canvas/flame.h"
#include "serve/recordings/canvas_json.h"

namespace {

using namespace fathom;
using namespace fathom::analysis;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSeen = 32;  // tracks on a screen

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double peak_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

// Where somebody looks.
class Walk {
 public:
  Walk(std::int64_t from, std::int64_t to) : all_{from, to}, now_(all_) {}
  const Window& step() {
    const std::int64_t span = now_.to - now_.from;
    const int what = below(10);
    if (what < 6) {
      move_to(now_.from + span * (below(100) - 50) / 100, span);
    } else if (what < 8) {
      move_to(now_.from + span / 4, std::max<std::int64_t>(span / (2 + below(8)), 1000));
    } else if (what < 9) {
      move_to(now_.from - span, std::min(span * (2 + below(8)), all_.to - all_.from));
    } else {
      const std::int64_t whole = all_.to - all_.from;
      move_to(all_.from + whole / 1000 * below(1000),
              std::max<std::int64_t>(whole >> below(24), 1000));
    }
    return now_;
  }

 private:
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  void move_to(std::int64_t from, std::int64_t span) {
    now_.from = std::clamp(from, all_.from, std::max(all_.from, all_.to - span));
    now_.to = now_.from + span;
  }
  Window all_, now_;
  std::mt19937_64 random_{1};
};

double at(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

int run(const std::string& path, int steps, std::int64_t width) {
  Result<Store> store = Store::open(path);
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().message);
    return 1;
  }
  const Clock::time_point begin = Clock::now();
  Result<Canvas> canvas = Canvas::make(*store);
  if (!canvas) {
    fmt::print(stderr, "{}\n", canvas.error().message);
    return 1;
  }
  const double build = seconds_since(begin);
  const double build_cpu = cpu_seconds();
  const double build_mib = peak_mib();
  std::vector<TrackId> seen;
  std::int64_t from = INT64_MAX;
  std::int64_t to = INT64_MIN;
  std::int64_t events = 0;
  for (const Track& track : canvas->tracks().tracks) {
    events += track.kind == TrackKind::kCounter ? 0 : track.events;
    if (track.events == 0 || track.kind == TrackKind::kCounter || seen.size() == kSeen) continue;
    seen.push_back(track.id);
    from = std::min(from, track.from);
    to = std::max(to, track.to);
  }
  Walk walk(from, to);
  std::vector<double> times;
  std::vector<double> cpu;
  std::size_t bytes = 0;
  for (int i = 0; i < steps; ++i) {
    const Window window = i == 0 ? Window{from, to} : walk.step();
    const Clock::time_point asked = Clock::now();
    const double used = cpu_seconds();
    const Boxes boxes = canvas->boxes(window, width, seen);
    bytes += serve::timeline_json(boxes, {}, nullptr, {}).size();
    times.push_back(seconds_since(asked) * 1e3);
    cpu.push_back((cpu_seconds() - used) * 1e3);
  }
  const double first = times.front();
  std::ranges::sort(times);
  std::ranges::sort(cpu);
  const Clock::time_point asked = Clock::now();
  const Result<Flame> flame = flame_of_calls(*canvas, {}, {});
  fmt::print(
      "{{\"events\":{},\"tracks\":{},\"build_s\":{:.2f},\"build_cpu_s\":{:.2f},\"build_mib\":{:.0f}"
      ","
      "\"first_ms\":{:.2f},\"p50_ms\":{:.2f},\"p95_ms\":{:.2f},\"max_ms\":{:.2f},\"p95_cpu_ms\":{:."
      "2f},"
      "\"max_cpu_ms\":{:.2f},\"answer_kib\":{:.0f},\"flame_s\":{:.2f},\"mib\":{:.0f}}}\n",
      events, seen.size(), build, build_cpu, build_mib, first, at(times, 0.5), at(times, 0.95),
      times.back(), at(cpu, 0.95), cpu.back(), static_cast<double>(bytes) / steps / 1024,
      flame ? seconds_since(asked) : -1, peak_mib());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    fmt::print(stderr, "usage: pan_zoom RECORDING [STEPS [WIDTH]]\n");
    return 2;
  }
  return run(words[1], count > 2 ? std::atoi(words[2]) : 500,
             count > 3 ? std::atoi(words[3]) : 1920);
}

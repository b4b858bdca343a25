// SPDX-License-Identifier: MIT
// NVML takes a lock that programs need as well, so sampling rests twenty times as long as it took.
// A thread that the driver does not answer is abandoned, not joined.
#include "sources/resources/gpu_thread.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace fathom::sources {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kShortestNs = 10 * kMs;
constexpr std::int64_t kThoroughEveryNs = 1000 * kMs;
constexpr std::chrono::seconds kPatience{2};
// Calls hold a lock of the driver, which programs need, too: they take a twentieth of the time at
// most.
constexpr std::int64_t kRestFactor = 20;

// Something that is asked for less often than at every sample, and pays by its own rest.
class Seldom {
 public:
  explicit Seldom(std::int64_t period) : period_(period) {}
  [[nodiscard]] bool is_due(std::int64_t now) const { return now >= next_; }
  void done(std::int64_t begin, std::int64_t spent) {
    next_ = begin + std::max(period_, spent * kRestFactor);
  }

 private:
  std::int64_t period_, next_ = 0;
};

}  // namespace

// Outlives its owner where the driver does not answer.
struct GpuThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool running = false;
  bool stopping = false;
  std::set<pid_t> pids;
  std::vector<GpuSample> ready;
  std::map<std::string, std::string> facts;

  void work(double hz);
  bool rest(std::int64_t ns);  // whether it goes on
  std::set<pid_t> processes() {
    const std::scoped_lock lock(mutex);
    return pids;
  }
};

bool GpuThread::State::rest(std::int64_t ns) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, nanoseconds(ns), [this] { return stopping; });
  return !stopping;
}

void GpuThread::State::work(double hz) {
  std::string reason;
  std::optional<GpuSampler> sampler = GpuSampler::open(reason);
  if (!sampler) return;
  const auto period = std::max(kShortestNs, static_cast<std::int64_t>(1e9 / hz));
  Seldom thorough(kThoroughEveryNs), parts(GpuParts::kShortestNs);
  for (bool last = false;;) {
    const std::int64_t begin = now_monotonic_ns();
    const GpuDepth depth{last || thorough.is_due(begin), parts.is_due(begin)};
    std::vector<GpuReading> readings = sampler->sample(depth, processes());
    const std::int64_t spent = now_monotonic_ns() - begin;
    if (depth.thorough) thorough.done(begin, spent);
    if (depth.parts) parts.done(begin, spent);
    {
      const std::scoped_lock lock(mutex);
      ready.push_back({begin, std::move(readings)});
      facts = sampler->facts();
    }
    if (last) return;
    const bool paid = depth.thorough || depth.parts;
    last = !rest(std::max(period - spent, paid ? kShortestNs : spent * kRestFactor));
  }
}

GpuThread::GpuThread() : state_(std::make_shared<State>()) {}
GpuThread::~GpuThread() { stop(); }

void GpuThread::start(double hz) {
  state_->running = true;
  state_->stopping = false;
  std::thread([state = state_, hz] {
    state->work(hz);
    const std::scoped_lock lock(state->mutex);
    state->running = false;
    state->changed.notify_all();
  }).detach();
}

void GpuThread::set_processes(std::set<pid_t> pids) {
  const std::scoped_lock lock(state_->mutex);
  state_->pids = std::move(pids);
}

std::vector<GpuSample> GpuThread::drain() {
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->ready, {});
}

void GpuThread::stop() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatience, [this] { return !state_->running; });
}

std::map<std::string, std::string> GpuThread::facts() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->facts;
}

}  // namespace fathom::sources

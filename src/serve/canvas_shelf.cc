// SPDX-License-Identifier: MIT
// Each index has a thread and a store of its own: no question of a page waits for it.
#include "serve/canvas_shelf.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "analysis/filtered_views.h"
#include "analysis/store.h"

namespace fathom::serve {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 300ms;
constexpr std::size_t kMostKept = 8;
// A recording that grows is looked at again when that takes a small part of the time.
constexpr int kRestFactor = 4;
constexpr char kMemory[] = "1GB";  // of the database, while it reads

}  // namespace

// Of one recording.
class CanvasShelf::Entry {
 public:
  ~Entry() { thread_.request_stop(); }

  ShelvedCanvas get(const KnownRecording& recording, const std::string& revision) {
    std::unique_lock lock(mutex_);
    used_ = Clock::now();
    const bool rested = !canvas_ || Clock::now() - ended_ > kRestFactor * took_;
    if (revision != revision_ && !building_ && rested) start(recording, revision);
    if (building_ && !canvas_) ready_.wait_for(lock, kPatience, [&] { return !building_; });
    ShelvedCanvas found{canvas_, std::nullopt, std::nullopt};
    if (building_) found.building = done_.load();
    if (!canvas_ && failed_ && !building_) found.failed = failed_;
    return found;
  }
  [[nodiscard]] bool is_idle() {
    const std::lock_guard lock(mutex_);
    return !building_;
  }
  [[nodiscard]] Clock::time_point used() {
    const std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  void start(const KnownRecording& recording, const std::string& revision) {
    building_ = true;
    done_ = 0;
    thread_ = std::jthread([this, recording, revision](const std::stop_token& stop) {
      const Clock::time_point begun = Clock::now();
      Result<analysis::Canvas> made = make(recording, stop);
      const std::lock_guard lock(mutex_);
      building_ = false;
      revision_ = revision;
      ended_ = Clock::now();
      took_ = ended_ - begun;
      if (made) {
        canvas_ = std::make_shared<const analysis::Canvas>(std::move(*made));
        failed_.reset();
      } else {
        failed_ = std::move(made).error();
      }
      ready_.notify_all();
    });
  }

  Result<analysis::Canvas> make(const KnownRecording& recording, const std::stop_token& stop) {
    analysis::StoreOptions options;
    options.memory = kMemory;
    FATHOM_ASSIGN(analysis::Store store, analysis::Store::open(recording.path, options));
    const std::stop_callback end(stop, [at = store.interrupter()] { at.interrupt(); });
    FATHOM_TRY(analysis::show_only(store, recording.part));
    return analysis::Canvas::make(store, [&](double done) {
      done_ = done;
      return !stop.stop_requested();
    });
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::shared_ptr<const analysis::Canvas> canvas_;
  std::string revision_;
  std::optional<Error> failed_;
  bool building_ = false;
  std::atomic<double> done_ = 0;
  Clock::time_point used_ = Clock::now(), ended_ = {};
  Clock::duration took_ = {};
  std::jthread thread_;  // the last: it goes first
};

class CanvasShelf::State {
 public:
  std::shared_ptr<Entry> entry(const std::string& id) {
    const std::lock_guard lock(mutex_);
    auto& found = entries_[id];
    if (!found) {
      found = std::make_shared<Entry>();
      forget_one();
    }
    return entries_[id];
  }

 private:
  void forget_one() {
    if (entries_.size() <= kMostKept) return;
    auto oldest = entries_.end();
    for (auto one = entries_.begin(); one != entries_.end(); ++one) {
      if (one->second.use_count() > 1 || !one->second->is_idle()) continue;
      if (oldest == entries_.end() || one->second->used() < oldest->second->used()) oldest = one;
    }
    if (oldest != entries_.end()) entries_.erase(oldest);
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

CanvasShelf::CanvasShelf() : state_(std::make_unique<State>()) {}
CanvasShelf::~CanvasShelf() = default;

ShelvedCanvas CanvasShelf::get(const KnownRecording& recording, const std::string& revision) {
  return state_->entry(recording.id)->get(recording, revision);
}

}  // namespace fathom::serve

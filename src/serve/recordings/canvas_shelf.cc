// SPDX-License-Identifier: MIT
// Each index has a thread and a store of its own: no question of a page waits for it.
#include "serve/recordings/canvas_shelf.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <stop_token>
#include <thread>

#include "analysis/shown_rows.h"
#include "analysis/store.h"
#include "base/clock.h"
#include "serve/recordings/question_end.h"
#include "serve/recordings/question_watch.h"

namespace fathom::serve {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 300ms;
constexpr auto kAbandoned = 5s;  // a page asks about once a second how far it is
constexpr std::size_t kMostKept = 8;
// A recording that grows is looked at again when that takes a small part of the time.
constexpr int kRestFactor = 4;
constexpr char kMemory[] = "1GB";  // of the database, while it reads

}  // namespace

// What all indexes share.
struct CanvasShelf::Workshop {
  explicit Workshop(const QuestionLimits& of) : limits(of), watch(of.memory_bytes) {}
  QuestionLimits limits;
  QuestionWatch watch;
  std::atomic<std::size_t> making = 0;
};

// Of one recording, or a part of it.
class CanvasShelf::Entry {
 public:
  explicit Entry(Workshop& shop) : shop_(&shop) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() { thread_.request_stop(); }

  ShelvedCanvas get(const WantedCanvas& wanted) {
    std::unique_lock lock(mutex_);
    used_ = Clock::now();
    const bool rested = !canvas_ || !wanted.grows || Clock::now() - ended_ > kRestFactor * took_;
    const bool is_old = wanted.revision != revision_;
    if (is_old && !building_ && rested && take_turn()) start(wanted);
    const bool waits = is_old && !building_;
    if (building_ && !canvas_) ready_.wait_for(lock, kPatience, [&] { return !building_; });
    ShelvedCanvas found{canvas_, std::nullopt, std::nullopt};
    if (building_) found.building = done_.load();
    // Of one that grows, another state is asked for soon anyway; the last one is waited for.
    if (waits && (!canvas_ || !wanted.grows)) found.building = 0;
    if (!canvas_ && failed_ && !found.building) found.failed = failed_;
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
  // Makes room for one that somebody waits for.
  void end_where_abandoned() {
    const std::lock_guard lock(mutex_);
    if (building_ && Clock::now() - used_ > kAbandoned) thread_.request_stop();
  }

 private:
  bool take_turn() {
    std::size_t making = shop_->making;
    while (making < kMostMaking) {
      if (shop_->making.compare_exchange_weak(making, making + 1)) return true;
    }
    return false;
  }

  void start(const WantedCanvas& wanted) {
    building_ = true;
    done_ = 0;
    thread_ = std::jthread([this, wanted](const std::stop_token& stop) {
      const Clock::time_point begun = Clock::now();
      Result<analysis::Canvas> made = make_if_room(wanted, stop);
      const std::lock_guard lock(mutex_);
      building_ = false;
      shop_->making.fetch_sub(1);
      // One that was given up is begun anew when somebody asks again.
      if (made || !stop.stop_requested()) revision_ = wanted.revision;
      if (made) {
        canvas_ = std::make_shared<const analysis::Canvas>(std::move(*made));
        failed_.reset();
      } else {
        failed_ = std::move(made).error();
      }
      ended_ = Clock::now();
      took_ = ended_ - begun;
      ready_.notify_all();
    });
  }

  // The process may have no more memory than it was given (MemoryLimit::bound_process).
  Result<analysis::Canvas> make_if_room(const WantedCanvas& wanted, const std::stop_token& stop) {
    try {
      return make(wanted, stop);
    } catch (const std::bad_alloc&) {
      return ended_question(QuestionEnd::kMemory, shop_->limits);
    }
  }

  Result<analysis::Canvas> make(const WantedCanvas& wanted, const std::stop_token& stop) {
    analysis::StoreOptions options;
    options.memory = kMemory;
    FATHOM_ASSIGN(analysis::Store store, analysis::Store::open(wanted.path, options));
    const std::stop_callback end(stop, [at = store.interrupter()] { at.interrupt(); });
    if (!wanted.part.any()) return read(store, [&] { return !stop.stop_requested(); });
    const QuestionWatch::Handle question =
        shop_->watch.begin(now_monotonic_ns() + shop_->limits.timeout_ns, nullptr,
                           [at = store.interrupter()] { at.interrupt(); });
    const auto goes_on = [&] {
      return !stop.stop_requested() && question->end == QuestionEnd::kNot;
    };
    Result<analysis::Canvas> made = [&]() -> Result<analysis::Canvas> {
      FATHOM_TRY(analysis::show_rows(store, wanted.part));
      return read(store, goes_on);
    }();
    shop_->watch.finish(question);
    if (!made && question->end != QuestionEnd::kNot)
      return ended_question(question->end, shop_->limits);
    return made;
  }

  template <class GoesOn>
  Result<analysis::Canvas> read(analysis::Store& store, GoesOn goes_on) {
    return analysis::Canvas::make(store, [&](double done) {
      done_ = done;
      return goes_on();
    });
  }

  Workshop* shop_;
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
  explicit State(const QuestionLimits& limits) : shop_(limits) {}

  std::shared_ptr<Entry> entry(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (shop_.making >= kMostMaking) {
      for (const auto& [other, one] : entries_) {
        if (other != key) one->end_where_abandoned();
      }
    }
    std::shared_ptr<Entry>& found = entries_[key];
    if (!found) found = std::make_shared<Entry>(shop_);
    std::shared_ptr<Entry> held = found;
    forget_some();
    return held;
  }

 private:
  // Those that nobody asks just now, the longest unused first.
  void forget_some() {
    while (entries_.size() > kMostKept) {
      auto oldest = entries_.end();
      for (auto one = entries_.begin(); one != entries_.end(); ++one) {
        if (one->second.use_count() > 1 || !one->second->is_idle()) continue;
        if (oldest == entries_.end() || one->second->used() < oldest->second->used()) oldest = one;
      }
      if (oldest == entries_.end()) return;
      entries_.erase(oldest);
    }
  }

  std::mutex mutex_;
  Workshop shop_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

CanvasShelf::CanvasShelf(const QuestionLimits& limits) : state_(std::make_unique<State>(limits)) {}
CanvasShelf::~CanvasShelf() = default;

ShelvedCanvas CanvasShelf::get(const WantedCanvas& wanted) {
  return state_->entry(wanted.id + '\0' + part_key(wanted.part))->get(wanted);
}

}  // namespace fathom::serve

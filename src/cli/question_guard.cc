// SPDX-License-Identifier: MIT
// A thread that waits for signals and looks at deadline and memory. It asks DuckDB to stop first,
// and ends the process itself when that is not enough.
#include "cli/question_guard.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory_limit.h"
#include "base/scratch.h"
#include "base/text.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kGraceNs = 1'000'000'000;  // for a question to end by itself

enum class Ended : std::uint8_t { kNot, kBySignal, kByTime, kByMemory };

// Signals that others send, and those that a thread of ours brings upon itself by a write: to a
// pipe that nobody reads, or beyond a limit of file sizes. All end a process unless it says no.
constexpr int kSent[] = {SIGINT,    SIGTERM, SIGHUP,  SIGQUIT, SIGALRM,   SIGUSR1, SIGUSR2,
                         SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGSTKFLT, SIGPWR};
constexpr int kByWriting[] = {SIGPIPE, SIGXFSZ};

// nohup and shells ignore some.
bool ends_us(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

// Set before hand_to_watcher() can run, which has no other way to learn it.
pthread_t watcher;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// A thread that writes must not go on as if it had written, nor clean up in a signal handler.
void hand_to_watcher(int number) {
  ::pthread_kill(watcher, number);
  for (;;) ::pause();
}

class Guard {
 public:
  static Guard& instance() {
    // Its thread outlives static objects.
    static Guard& guard = *new Guard;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
    return guard;
  }

  void begin(const QuestionLimits& limits);
  void serve(std::function<void()> stop);
  void add(const analysis::Store& store);
  [[nodiscard]] std::string memory_of_store();
  void pause();
  void go_on();
  [[nodiscard]] Error explained(Error error);
  [[nodiscard]] int stopped_by();

 private:
  void take_signals();
  void watch();
  void end(Ended how, int number);
  [[noreturn]] void end_at_once();
  [[nodiscard]] Error reason() const;

  std::mutex mutex_;
  sigset_t signals_{};
  bool begun_ = false;
  QuestionLimits limits_;
  MemoryLimit memory_;
  std::vector<sql::Interrupter> interrupters_;
  std::int64_t deadline_ns_ = kNever;
  std::int64_t paused_ns_ = 0;  // since when; 0: not
  Ended ended_ = Ended::kNot;
  int signal_ = 0;
  std::function<void()> stop_;  // of a server
  bool stopping_ = false;
  std::int64_t end_at_once_ns_ = kNever;
};

void Guard::begin(const QuestionLimits& limits) {
  const std::scoped_lock lock(mutex_);
  if (begun_) return;
  begun_ = true;
  limits_ = limits;
  memory_ = MemoryLimit(limits.memory_bytes);
  memory_.begin();
  memory_.bound_process();
  if (limits.timeout_ns != 0) deadline_ns_ = now_monotonic_ns() + limits.timeout_ns;
  take_signals();
}

// All of them end in the watching thread. Others have those blocked that are sent.
void Guard::take_signals() {
  sigset_t sent;
  sigemptyset(&sent);
  for (const int number : kSent) {
    if (ends_us(number)) sigaddset(&sent, number);
  }
  signals_ = sent;
  std::vector<int> by_writing;
  for (const int number : kByWriting) {
    if (!ends_us(number)) continue;
    by_writing.push_back(number);
    sigaddset(&signals_, number);
  }
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before);
  std::thread thread([this] { watch(); });
  watcher = thread.native_handle();
  thread.detach();
  struct sigaction action {};
  action.sa_handler = hand_to_watcher;
  for (const int number : by_writing) ::sigaction(number, &action, nullptr);
  sigorset(&before, &before, &sent);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Guard::serve(std::function<void()> stop) {
  const std::scoped_lock lock(mutex_);
  stop_ = std::move(stop);
}

void Guard::add(const analysis::Store& store) {
  const std::scoped_lock lock(mutex_);
  interrupters_.push_back(store.interrupter());
}

std::string Guard::memory_of_store() {
  const std::scoped_lock lock(mutex_);
  return memory_.of_store();
}

void Guard::pause() {
  const std::scoped_lock lock(mutex_);
  paused_ns_ = now_monotonic_ns();
}

void Guard::go_on() {
  const std::scoped_lock lock(mutex_);
  if (deadline_ns_ != kNever) deadline_ns_ += now_monotonic_ns() - paused_ns_;
  paused_ns_ = 0;
}

void Guard::watch() {
  for (;;) {
    const timespec look{0, MemoryLimit::kLookNs};
    const int number = ::sigtimedwait(&signals_, nullptr, &look);
    const std::scoped_lock lock(mutex_);
    const std::int64_t now = now_monotonic_ns();
    if (stop_ && number <= 0) continue;
    if (stop_ && !std::exchange(stopping_, true)) {
      stop_();
      continue;
    }
    if (stop_) end(Ended::kBySignal, number);
    // Whoever asks a second time does not want to wait.
    if ((number > 0 && ended_ != Ended::kNot) || now >= end_at_once_ns_) end_at_once();
    if (number > 0) end(Ended::kBySignal, number);
    if (number == SIGPIPE || number == SIGXFSZ) end_at_once();  // its thread waits for nothing
    // Who is to end and takes more all the same would have it within the grace.
    if (ended_ != Ended::kNot && memory_.is_exceeded(2)) end_at_once();
    if (ended_ != Ended::kNot) continue;
    if (paused_ns_ == 0 && now >= deadline_ns_) end(Ended::kByTime, 0);
    if (memory_.is_exceeded()) end(Ended::kByMemory, 0);
  }
}

void Guard::end(Ended how, int number) {
  ended_ = how;
  signal_ = number;
  for (const sql::Interrupter& one : interrupters_) one.interrupt();
  end_at_once_ns_ = now_monotonic_ns() + (interrupters_.empty() ? 0 : kGraceNs);
}

// Somebody does not listen: a function of SQL at a long value, or our output to a full pipe.
void Guard::end_at_once() {
  remove_temporary_paths();
  if (signal_ == 0) {
    tell(reason());
    ::_exit(exit_status(reason().code));
  }
  die_of(signal_);
}

Error Guard::reason() const {
  if (ended_ == Ended::kByTime) {
    return {Code::kIo,
            "the query took more time than " + human_ns(static_cast<double>(limits_.timeout_ns)),
            "raise --timeout"};
  }
  return memory_.refusal(limits_.work,
                         limits_.has_option ? "raise --memory" : "ask for a part of the recording");
}

Error Guard::explained(Error error) {
  const std::scoped_lock lock(mutex_);
  if (ended_ == Ended::kByTime || ended_ == Ended::kByMemory) return reason();
  const bool out_of_memory = error.message.starts_with("Out of Memory Error") ||
                             error.message.starts_with("out of memory");
  if (out_of_memory && begun_) return reason();
  return error;
}

int Guard::stopped_by() {
  const std::scoped_lock lock(mutex_);
  return signal_;
}

}  // namespace

Result<std::int64_t> timeout_of(const std::string& text) {
  const Result<std::int64_t> ns = parse_duration(text);
  if (ns && *ns > 0) return *ns;
  return usage_error("--timeout '" + text + "' is not a valid limit", "write it as 30s, 5m or 1h");
}

Result<QuestionLimits> memory_limits(const Parser& parser, const std::string& memory) {
  QuestionLimits limits{.has_option = true};
  if (parser.given("--memory")) {
    FATHOM_ASSIGN(const MemoryLimit limit, MemoryLimit::parse("--memory", memory));
    limits.memory_bytes = limit.bytes();
  }
  return limits;
}

void guard_questions(const QuestionLimits& limits) { Guard::instance().begin(limits); }
std::string memory_of_store() { return Guard::instance().memory_of_store(); }
void guard_server(std::function<void()> stop) { Guard::instance().serve(std::move(stop)); }
void guard_store(const analysis::Store& store) { Guard::instance().add(store); }
OutputPause::OutputPause() { Guard::instance().pause(); }
OutputPause::~OutputPause() { Guard::instance().go_on(); }
Error explained(Error error) { return Guard::instance().explained(std::move(error)); }
void die_of(int number) {
  (void)std::signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::kill(::getpid(), number);
  for (;;) ::pause();
}
int question_stopped_by() { return Guard::instance().stopped_by(); }

}  // namespace fathom::cli

// SPDX-License-Identifier: MIT
// Stores that nobody asks are kept for the next question. One store answers one question at a time,
// so a recording that several ask at once is open several times.
#include "serve/recordings/open_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "analysis/filtered_views.h"
#include "base/clock.h"
#include "base/file_limit.h"
#include "base/memory.h"
#include "base/text.h"
#include "serve/recordings/question_end.h"
#include "serve/recordings/question_watch.h"
#include "serve/recordings/recording_stamp.h"

namespace fathom::serve {
namespace {

// Rows of a recording that is being made are this old at most, and opening it again takes at most
// this share of the time.
constexpr std::int64_t kFreshNs = 1'000'000'000;
constexpr std::int64_t kOpeningShare = 4;

constexpr std::chrono::milliseconds kLook{50};  // at a client, while its request waits

struct OpenStore {
  std::string key;  // path and part
  RecordingStamp stamp;
  std::string revision;
  std::int64_t opened_ns = 0;
  std::int64_t took_ns = 0;  // to open
  std::vector<std::string> words;
  std::optional<analysis::Store> store;
};

bool is_fresh(const OpenStore& open, const RecordingStamp& now, std::int64_t now_ns) {
  if (open.stamp != now) return false;
  return !now.is_running ||
         now_ns - open.opened_ns < std::max(kFreshNs, kOpeningShare * open.took_ns);
}

// What a limit that was hit says; refused_lease() knows it again by these words.
constexpr std::string_view kTookTooLong = "the query took more time than ";
constexpr std::string_view kTookTooMuch =
    "this query and others at the same time need more memory than they may use";

bool is_out_of_memory(const Error& error) {
  return error.message.starts_with("Out of Memory Error") ||
         error.message.starts_with("out of memory");
}

std::int64_t deadline_of(const Request& request, const QuestionLimits& limits) {
  return request.deadline_ns ? *request.deadline_ns : now_monotonic_ns() + limits.timeout_ns;
}

Error too_many() {
  return {Code::kUnavailable, "too many queries at a time", "ask again in a moment"};
}
Error none_ends() {
  return {Code::kUnavailable, "queries that cannot be stopped use all the time",
          "ask again when they are done, or start the server again"};
}
Error waited_too_long() {
  return {Code::kUnavailable, "other queries used all the time", "ask again in a moment"};
}

}  // namespace

std::string part_key(const analysis::RowFilter& filter) {
  std::string key;
  if (!filter.any()) return key;
  // With its length, so that no text can pretend to be two.
  const auto add = [&](const std::string& text) {
    key += fmt::format(" {}:{}", text.size(), text);
  };
  const auto add_all = [&](const auto& values) {
    key += fmt::format(" {}", values.size());
    for (const auto& value : values) add(fmt::format("{}", value));
  };
  add_all(filter.layers);
  add_all(filter.names);
  add_all(filter.pids);
  add_all(filter.tids);
  add_all(filter.hosts);
  add(filter.from_ns ? std::to_string(*filter.from_ns) : "");
  add(filter.to_ns ? std::to_string(*filter.to_ns) : "");
  add(filter.condition);
  return key;
}

Error ended_question(QuestionEnd end, const QuestionLimits& limits) {
  switch (end) {
    case QuestionEnd::kTime:
      return {Code::kUnavailable,
              std::string(kTookTooLong) + human_ns(static_cast<double>(limits.timeout_ns)),
              "ask for a part of the recording, or raise --timeout"};
    case QuestionEnd::kMemory:
      return {Code::kUnavailable, std::string(kTookTooMuch),
              "ask for a part of the recording, or raise --memory"};
    case QuestionEnd::kNot:
    case QuestionEnd::kGone:
      break;
  }
  return {Code::kUnavailable, "the client no longer waits for the answer", ""};
}

// The status says whether another try helps: 408 and 413 are about the question, 429 about the
// moment.
Response refused_lease(const Error& error) {
  const bool is_memory = is_out_of_memory(error) || error.message.starts_with(kTookTooMuch);
  const bool is_time = error.message.starts_with(kTookTooLong);
  Response response = refusal(is_memory ? ended_question(QuestionEnd::kMemory, {}) : error);
  if (is_time) response.status = 408;
  if (is_memory) response.status = 413;
  if (is_time || is_memory) response.headers.clear();  // another try would not help
  return response;
}

class OpenRecordings::State {
 public:
  State(RecordingPlaces& places, trace::NameResolver names, const QuestionLimits& limits)
      : places_(&places), names_(std::move(names)), limits_(limits), watch_(limits.memory_bytes) {}

  // A turn to ask; give_turn_back() when it is over.
  // Turns are few, since each question may use all CPUs and its share of the memory. A client that
  // goes away gives its place in the line up; nobody tells us, so it is looked at.
  Status take_turn(const Request& request) {
    std::unique_lock lock(mutex_);
    if (waiting_ >= limits_.waiting) return too_many();
    if (abandoned_ >= limits_.at_once) return none_ends();
    ++waiting_;
    const std::int64_t deadline = deadline_of(request, limits_);
    const auto is_gone = [&] { return request.gone && *request.gone; };
    while (asking_ >= limits_.at_once && now_monotonic_ns() < deadline && !is_gone())
      free_.wait_for(lock, kLook);
    --waiting_;
    if (asking_ >= limits_.at_once || is_gone()) return waited_too_long();
    ++asking_;
    return {};
  }

  void give_turn_back() {
    const std::scoped_lock lock(mutex_);
    --asking_;
    free_.notify_one();
  }

  // Its turn is somebody else's from now on, though it goes on.
  void abandon_turn() {
    const std::scoped_lock lock(mutex_);
    --asking_;
    ++abandoned_;
    free_.notify_one();
  }

  void end_abandoned() {
    const std::scoped_lock lock(mutex_);
    --abandoned_;
  }

  // One that is open and as new as the recording; those that are older go.
  // Who has it is alone with it until keep(): it is in no list meanwhile.
  std::unique_ptr<OpenStore> take_kept(const std::string& key, const RecordingStamp& stamp) {
    std::list<std::unique_ptr<OpenStore>> old;  // closed when the lock is open again
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<OpenStore> found;
    for (auto one = kept_.begin(); one != kept_.end();) {
      const auto next = std::next(one);
      if ((*one)->key == key && !found && is_fresh(**one, stamp, now_monotonic_ns())) {
        found = std::move(*one);
        kept_.erase(one);
      } else if ((*one)->key == key && !is_fresh(**one, stamp, now_monotonic_ns())) {
        old.splice(old.end(), kept_, one);
      }
      one = next;
    }
    return found;
  }

  // Memory that open stores hold is missing for questions.
  void keep(std::unique_ptr<OpenStore> store) {
    std::list<std::unique_ptr<OpenStore>> old;
    const bool is_short = own_memory("RssAnon:") > watch_.memory().bytes() / 2;
    const std::scoped_lock lock(mutex_);
    kept_.push_front(std::move(store));
    const std::size_t most = is_short ? 0 : limits_.kept_open;
    while (kept_.size() > most) old.splice(old.end(), kept_, std::prev(kept_.end()));
  }

  Result<std::unique_ptr<OpenStore>> open(const std::string& key, const std::string& path,
                                          const RecordingStamp& stamp, const std::string& output) {
    const MemoryLimit share(watch_.memory().bytes() / limits_.at_once);
    auto made = std::make_unique<OpenStore>();
    made->key = key;
    made->stamp = stamp;
    made->opened_ns = now_monotonic_ns();
    raise_file_limit();  // each Parquet file of a recording is held open
    FATHOM_ASSIGN(made->store, analysis::Store::open(path, {.resolver = names_,
                                                            .memory = share.of_store(),
                                                            .output = output,
                                                            .remembers_files = true}));
    made->took_ns = now_monotonic_ns() - made->opened_ns;
    made->revision = stamp.revision;
    if (stamp.is_running) made->revision += fmt::format("-{}", made->opened_ns);
    return made;
  }

  RecordingPlaces* places_;
  trace::NameResolver names_;
  QuestionLimits limits_;
  QuestionWatch watch_;

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  std::size_t asking_ = 0;
  std::size_t waiting_ = 0;
  std::size_t abandoned_ = 0;                   // still run, and cannot be ended
  std::list<std::unique_ptr<OpenStore>> kept_;  // the last asked first
};

// What a lease holds, and the order in which it goes back: the watch must not end the next
// question, the store goes before the turn, since whoever gets the turn wants its memory.
struct RecordingLease::Held {
  explicit Held(std::shared_ptr<OpenRecordings::State> from) : state(std::move(from)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (question) state->watch_.finish(question);
    const bool is_whole = !question || question->end == QuestionEnd::kNot;
    if (open && is_whole && is_kept) state->keep(std::move(open));
    open.reset();  // before the turn of somebody else
    if (turn && turn->exchange(false)) {
      state->give_turn_back();
    } else if (turn) {
      state->end_abandoned();
    }
  }

  std::shared_ptr<OpenRecordings::State> state;
  // nullptr: it has none yet. false: it was abandoned.
  std::shared_ptr<std::atomic<bool>> turn;
  bool is_kept = false;  // for the next question
  KnownRecording recording;
  std::unique_ptr<OpenStore> open;
  QuestionWatch::Handle question;
};

RecordingLease::RecordingLease(std::unique_ptr<Held> held) : held_(std::move(held)) {}
RecordingLease::RecordingLease(RecordingLease&& other) noexcept = default;
RecordingLease::~RecordingLease() = default;

analysis::Store& RecordingLease::store() const { return *held_->open->store; }
const KnownRecording& RecordingLease::recording() const { return held_->recording; }
const std::string& RecordingLease::revision() const { return held_->open->revision; }
bool RecordingLease::grows() const { return held_->open->stamp.is_running; }
const std::vector<std::string>& RecordingLease::part_words() const { return held_->open->words; }
bool RecordingLease::ended() const { return held_->question->end != QuestionEnd::kNot; }

QuestionEnd RecordingLease::end_of(const Error& error) const {
  const QuestionEnd end = held_->question->end;
  return end == QuestionEnd::kNot && is_out_of_memory(error) ? QuestionEnd::kMemory : end;
}

Error RecordingLease::explained(const Error& error) const {
  const QuestionEnd end = end_of(error);
  return end == QuestionEnd::kNot ? error : ended_question(end, held_->state->limits_);
}

Response RecordingLease::refused(const Error& error) const {
  return refused_lease(explained(error));
}

OpenRecordings::OpenRecordings(RecordingPlaces& places, trace::NameResolver names,
                               const QuestionLimits& limits)
    : state_(std::make_shared<State>(places, std::move(names), limits)) {}
OpenRecordings::~OpenRecordings() = default;

RecordingPlaces& OpenRecordings::places() { return *state_->places_; }
const QuestionLimits& OpenRecordings::limits() const { return state_->limits_; }
const trace::NameResolver& OpenRecordings::names() const { return state_->names_; }

Result<RecordingLease> OpenRecordings::lease(const Request& request) {
  return lease(request, request.asked("recording"));
}

Result<RecordingLease> OpenRecordings::lease(const Request& request, const std::string& id) {
  return lease_part(request, id, {});
}

Result<RecordingLease> OpenRecordings::lease_part(const Request& request, const std::string& id,
                                                  const analysis::RowFilter& filter,
                                                  bool positions) {
  FATHOM_ASSIGN(const KnownRecording recording, state_->places_->find(id));
  return lease_part(request, recording, filter, positions);
}

Result<RecordingLease> OpenRecordings::lease_part(const Request& request,
                                                  const KnownRecording& recording,
                                                  const analysis::RowFilter& asked,
                                                  bool positions) {
  FATHOM_ASSIGN(RecordingLease lease, begin(request, recording));
  RecordingLease::Held& held = *lease.held_;
  const analysis::RowFilter& filter = shown_part(held.recording, asked);
  std::string key = held.recording.path + '\0' + part_key(filter);
  if (positions && filter.any()) key += " positions";
  const RecordingStamp stamp = stamp_of(held.recording.path);
  held.open = state_->take_kept(key, stamp);
  const bool is_new = !held.open;
  if (is_new) {
    FATHOM_ASSIGN(held.open, state_->open(key, held.recording.path, stamp, ""));
  }
  watch(request, held);
  if (is_new) {
    Result<std::vector<std::string>> words = analysis::show_only(lease.store(), filter, positions);
    if (!words) return lease.explained(words.error());
    held.open->words = std::move(*words);
  }
  held.is_kept = true;
  return lease;
}

Result<RecordingLease> OpenRecordings::lease_to_write(const Request& request,
                                                      const KnownRecording& recording,
                                                      const std::string& directory) {
  FATHOM_ASSIGN(RecordingLease lease, begin(request, recording));
  RecordingLease::Held& held = *lease.held_;
  const RecordingStamp stamp = stamp_of(held.recording.path);
  FATHOM_ASSIGN(held.open, state_->open("", held.recording.path, stamp, directory));
  watch(request, held);
  return lease;
}

Result<RecordingLease> OpenRecordings::begin(const Request& request,
                                             const KnownRecording& recording) {
  RecordingLease lease(std::make_unique<RecordingLease::Held>(state_));
  lease.held_->recording = recording;
  if (request.deadline_ns && now_monotonic_ns() > *request.deadline_ns)
    return ended_question(QuestionEnd::kTime, state_->limits_);
  FATHOM_TRY(state_->take_turn(request));
  lease.held_->turn = std::make_shared<std::atomic<bool>>(true);
  return lease;
}

// An abandoned question goes on though it was told to end (DuckDB looks up from its work only now
// and then): its turn is given away and its client answered, while its thread still holds the
// store.
void OpenRecordings::watch(const Request& request, RecordingLease::Held& held) {
  held.question = state_->watch_.begin(
      deadline_of(request, state_->limits_), request.gone,
      [interrupter = held.open->store->interrupter()] { interrupter.interrupt(); },
      [state = state_.get(), turn = held.turn, answer = request.answer_instead](QuestionEnd end) {
        if (!turn->exchange(false)) return;
        state->abandon_turn();
        if (answer) answer(refused_lease(ended_question(end, state->limits_)));
      });
}

}  // namespace fathom::serve

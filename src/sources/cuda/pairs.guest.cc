// SPDX-License-Identifier: MIT
// Events tell how far they are apart, not when they were. Whenever the program has waited for the
// device, an event of ours is recorded, which happens at once: from there times are counted. Until
// then work is taken to begin when it was asked for.
#include "sources/cuda/pairs.guest.h"

#include "guest/attach.h"
#include "sources/cuda/driver.guest.h"
#include "sources/cuda/own_work.guest.h"
#include "sources/cuda/state.guest.h"

namespace fathom::guest::cuda {

struct EventPair {
  enum State : uint32_t { kFree, kTaken, kWaiting };
  uint32_t state;  // atomic
  Place of;        // whose context the events belong to; 0: there are none
  Handle first, second;
  DeviceRow row;
};

namespace {

constexpr uint32_t kPairs = 64;
constexpr uint32_t kOneOf = 32;                       // launches
constexpr uint64_t kFirstNumber = UINT64_C(1) << 40;  // none of CUPTI's
constexpr double kNewBaseAfter = 1e8;                 // ns
constexpr int kNotReady = 600;                        // CUDA_ERROR_NOT_READY
constexpr double kFarthestBase = 1e10;  // ns: beyond that a float of milliseconds is too coarse

alignas(kLarge) constinit EventPair pairs[kPairs] = {};
constinit uint32_t turn = 0;               // atomic
constinit uint64_t number = kFirstNumber;  // atomic

// Where times of a context are counted from.
struct Base {
  uint32_t busy;  // atomic
  Place of;       // no context: there is no event
  Handle event;
  uint64_t at;  // tick; 0: none
};
constexpr uint32_t kBases = 8;
alignas(kLarge) constinit Base bases[kBases] = {};

// The one that a context has, or shares with some others: who comes next takes it over.
Base& base_of(uint32_t context) { return bases[context % kBases]; }
bool take(Base& base) { return __atomic_exchange_n(&base.busy, 1, __ATOMIC_ACQUIRE) == 0; }
void give_back(Base& base) { __atomic_store_n(&base.busy, 0, __ATOMIC_RELEASE); }

uint32_t one_of() {
  static constinit uint32_t asked_for = 0;  // atomic
  uint32_t known = __atomic_load_n(&asked_for, __ATOMIC_RELAXED);
  if (known != 0) return known;
  const char* text = setting("FATHOM_GPU_SAMPLE");
  for (; text != nullptr && *text >= '0' && *text <= '9' && known < 1000000; text++)
    known = known * 10 + static_cast<uint32_t>(*text - '0');
  if (known == 0) known = kOneOf;
  __atomic_store_n(&asked_for, known, __ATOMIC_RELAXED);
  return known;
}

bool can_make_events() {
  return !is_confined() && asked.event_make != nullptr && asked.event_record != nullptr &&
         asked.event_query != nullptr && asked.event_between != nullptr &&
         asked.event_end != nullptr;
}

bool take(EventPair& pair, EventPair::State from) {
  uint32_t state = from;
  return __atomic_compare_exchange_n(&pair.state, &state, EventPair::kTaken, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
void set_state(EventPair& pair, EventPair::State state) {
  __atomic_store_n(&pair.state, state, __ATOMIC_RELEASE);
}

// An event that is under way is gone when it is over.
void end_events(EventPair& pair) {
  if (pair.of.context == 0) return;
  asked.event_end(pair.first);
  asked.event_end(pair.second);
  pair.of = {};
}

// In the context that is current.
bool make_events(EventPair& pair, const Place& place) {
  if (asked.event_make(&pair.first, 0) != 0) return false;
  if (asked.event_make(&pair.second, 0) != 0) {
    asked.event_end(pair.first);
    return false;
  }
  pair.of = place;
  return true;
}

constexpr uint32_t kAnyContext = UINT32_MAX;

EventPair* take_free(uint32_t context) {
  for (EventPair& pair : pairs) {
    if (!take(pair, EventPair::kFree)) continue;
    if (context == kAnyContext || pair.of.context == context) return &pair;
    set_state(pair, EventPair::kFree);
  }
  return nullptr;
}

// One whose events are of this context; else one that has none yet; else one of another context,
// which may not come back.
EventPair* free_pair(const Place& place) {
  if (place.context == 0) return nullptr;
  EventPair* pair = take_free(place.context);
  if (pair != nullptr) return pair;
  pair = take_free(0);
  if (pair == nullptr) pair = take_free(kAnyContext);
  if (pair == nullptr) return nullptr;
  end_events(*pair);
  if (make_events(*pair, place)) return pair;
  set_state(*pair, EventPair::kFree);
  return nullptr;
}

// When the first event was, by the base, if that is of the same context and near.
bool begin_of(const EventPair& pair, double rate, uint64_t& begin) {
  Base& base = base_of(pair.of.context);
  if (!take(base)) return false;
  float since = 0;
  const bool known = base.at != 0 && base.of.context == pair.of.context &&
                     asked.event_between(&since, base.event, pair.first) == 0 && since >= 0 &&
                     since * 1e6 < kFarthestBase;
  if (known) begin = base.at + static_cast<uint64_t>(static_cast<double>(since) * 1e6 * rate);
  give_back(base);
  return known;
}

void write_pair(EventPair& pair) {
  float apart = 0;
  if (asked.event_between(&apart, pair.first, pair.second) != 0 || apart < 0) return;
  const double rate = ticks_per_ns();
  begin_of(pair, rate, pair.row.begin);
  pair.row.end = pair.row.begin + static_cast<uint64_t>(static_cast<double>(apart) * 1e6 * rate);
  write_device_row(pair.row);
}

void end_base(Base& base) {
  if (base.of.context != 0) asked.event_end(base.event);
  base.of = {};
  base.at = 0;
}

void renew_base(Base& base, Handle stream, const Place& place) {
  const bool same = base.of.context == place.context;
  if (same && base.at != 0 &&
      static_cast<double>(tick() - base.at) < kNewBaseAfter * ticks_per_ns())
    return;
  if (!same) {
    end_base(base);
    if (asked.event_make(&base.event, 0) != 0) return;
    base.of = place;
  }
  base.at = asked.event_record(base.event, stream) == 0 ? tick() : 0;
}

// One that waits, if it is over. One that cannot be asked is of a context that is gone without a
// word to us, and so are its events.
void poll_one() {
  static constinit uint32_t next = 0;  // atomic
  EventPair& pair = pairs[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % kPairs];
  if (!take(pair, EventPair::kWaiting)) return;
  const int answer = asked.event_query(pair.second);
  if (answer == kNotReady) return set_state(pair, EventPair::kWaiting);
  if (answer == 0) {
    write_pair(pair);
  } else {
    pair.of = {};
  }
  set_state(pair, EventPair::kFree);
}

// Times of what is still under way are not told then: the launch was one of a sample.
template <class IsMeant>
void leave(IsMeant is_meant) {
  if (!can_make_events()) return;
  const OwnWork own_work;
  for (EventPair& pair : pairs) {
    const bool waited = take(pair, EventPair::kWaiting);
    if (!waited && !take(pair, EventPair::kFree)) continue;
    const bool meant = pair.of.context != 0 && is_meant(pair.of);
    if (meant) end_events(pair);
    set_state(pair, waited && !meant ? EventPair::kWaiting : EventPair::kFree);
  }
  for (Base& base : bases) {
    if (!take(base)) continue;
    if (base.of.context != 0 && is_meant(base.of)) end_base(base);
    give_back(base);
  }
}

}  // namespace

// A capture may not be disturbed by calls of ours, on whichever stream it is.
EventPair* pair_begins(Handle stream) {
  const uint32_t every = one_of();
  if (every > 1 && __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED) % every != 0) return nullptr;
  if (!can_make_events() || captures_go_on()) return nullptr;
  const OwnWork own_work;
  for (int i = 0; i < 4; i++) poll_one();
  EventPair* pair = free_pair(current_place());
  if (pair == nullptr) return nullptr;
  if (asked.event_record(pair->first, stream) == 0) return pair;
  set_state(*pair, EventPair::kFree);
  return nullptr;
}

uint64_t pair_ends(EventPair* pair, Handle stream, bool runs, DeviceRow row) {
  const OwnWork own_work;
  if (!runs || asked.event_record(pair->second, stream) != 0) {
    set_state(*pair, EventPair::kFree);
    return 0;
  }
  row.kind = DeviceKind::kKernel;
  row.clock = DeviceClock::kEvents;
  row.correlation = __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED);
  pair->row = row;
  set_state(*pair, EventPair::kWaiting);
  return row.correlation;
}

void device_was_waited_for(bool idle, Handle stream) {
  if (device_state_now() == DeviceState::kTimed) return device_work_waited_for();
  if (device_state_now() != DeviceState::kSampled || !can_make_events() || captures_go_on()) return;
  poll_event_pairs();
  const Place place = current_place();
  Base& base = base_of(place.context);
  if (!idle || place.context == 0 || !take(base)) return;
  const OwnWork own_work;
  renew_base(base, stream, place);
  give_back(base);
}

void pairs_leave(uint32_t context) {
  if (context != 0) leave([context](const Place& place) { return place.context == context; });
}

void pairs_leave_device(int device) {
  leave([device](const Place& place) { return place.device == device; });
}

}  // namespace fathom::guest::cuda

void fathom::guest::poll_event_pairs() {
  const cuda::OwnWork own_work;
  for (uint32_t i = 0; i < cuda::kPairs; i++) cuda::poll_one();
}

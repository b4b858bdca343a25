// SPDX-License-Identifier: MIT
// Events tell how far they are apart, not when they were. Whenever the program has waited for the
// device, an event of ours is recorded, which happens at once: from there times are counted. Until
// then work is taken to begin when it was asked for.
#include "sources/cuda/pairs.guest.h"

#include "guest/attach.h"
#include "sources/cuda/apart.guest.h"
#include "sources/cuda/driver.guest.h"
#include "sources/cuda/state.guest.h"

namespace fathom::guest::cuda {

struct EventPair {
  enum State : uint32_t { kFree, kTaken, kWaiting };
  uint32_t state;    // atomic
  uint32_t context;  // that the events belong to; 0: there are none yet
  Handle first, second;
  DeviceRow row;
};

namespace {

constexpr uint32_t kPairs = 64;
constexpr uint32_t kOneOf = 32;                       // launches
constexpr uint64_t kFirstNumber = UINT64_C(1) << 40;  // none of CUPTI's
constexpr double kNewBaseAfter = 1e8;                 // ns
constexpr double kFarthestBase = 1e10;  // ns: beyond that a float of milliseconds is too coarse

constinit EventPair pairs[kPairs] = {};
constinit uint32_t turn = 0;               // atomic
constinit uint64_t number = kFirstNumber;  // atomic

// Where times are counted from.
struct Base {
  uint32_t busy;  // atomic
  uint32_t context;
  Handle event;
  uint64_t at;  // tick; 0: none
};
constinit Base base = {};

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
         asked.event_query != nullptr && asked.event_between != nullptr;
}

bool take(EventPair& pair, EventPair::State from) {
  uint32_t state = from;
  return __atomic_compare_exchange_n(&pair.state, &state, EventPair::kTaken, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
void set_state(EventPair& pair, EventPair::State state) {
  __atomic_store_n(&pair.state, state, __ATOMIC_RELEASE);
}

// One whose events are of this context, or that has none yet.
EventPair* free_pair(uint32_t context) {
  for (EventPair& pair : pairs) {
    if (!take(pair, EventPair::kFree)) continue;
    if (pair.context == context) return &pair;
    if (pair.context == 0 && asked.event_make(&pair.first, 0) == 0 &&
        asked.event_make(&pair.second, 0) == 0) {
      pair.context = context;
      return &pair;
    }
    set_state(pair, EventPair::kFree);
  }
  return nullptr;
}

// When the first event was, by the base, if that is of the same context and near.
bool begin_of(const EventPair& pair, double rate, uint64_t& begin) {
  if (__atomic_exchange_n(&base.busy, 1, __ATOMIC_ACQUIRE) != 0) return false;
  float since = 0;
  const bool known = base.at != 0 && base.context == pair.context &&
                     asked.event_between(&since, base.event, pair.first) == 0 && since >= 0 &&
                     since * 1e6 < kFarthestBase;
  if (known) begin = base.at + static_cast<uint64_t>(static_cast<double>(since) * 1e6 * rate);
  __atomic_store_n(&base.busy, 0, __ATOMIC_RELEASE);
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

void renew_base(Handle stream, uint32_t context) {
  if (base.at != 0 && base.context == context &&
      static_cast<double>(tick() - base.at) < kNewBaseAfter * ticks_per_ns())
    return;
  if (base.event == nullptr || base.context != context) {
    base.context = context;
    if (asked.event_make(&base.event, 0) != 0) base.event = nullptr;
  }
  base.at = base.event != nullptr && asked.event_record(base.event, stream) == 0 ? tick() : 0;
}

// One that waits, if it is over.
void poll_one() {
  static constinit uint32_t next = 0;  // atomic
  EventPair& pair = pairs[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % kPairs];
  if (!take(pair, EventPair::kWaiting)) return;
  if (asked.event_query(pair.second) != 0) return set_state(pair, EventPair::kWaiting);
  write_pair(pair);
  set_state(pair, EventPair::kFree);
}

}  // namespace

// A capture may not be disturbed by calls of ours, on whichever stream it is.
EventPair* pair_begins(Handle stream) {
  const uint32_t every = one_of();
  if (every > 1 && __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED) % every != 0) return nullptr;
  if (!can_make_events() || captures_go_on()) return nullptr;
  const Apart apart;
  for (int i = 0; i < 4; i++) poll_one();
  EventPair* pair = free_pair(current_place().context);
  if (pair == nullptr) return nullptr;
  if (asked.event_record(pair->first, stream) == 0) return pair;
  set_state(*pair, EventPair::kFree);
  return nullptr;
}

uint64_t pair_ends(EventPair* pair, Handle stream, bool runs, DeviceRow row) {
  const Apart apart;
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
  if (!idle || __atomic_exchange_n(&base.busy, 1, __ATOMIC_ACQUIRE) != 0) return;
  const Apart apart;
  renew_base(stream, current_place().context);
  __atomic_store_n(&base.busy, 0, __ATOMIC_RELEASE);
}

}  // namespace fathom::guest::cuda

void fathom::guest::poll_event_pairs() {
  const cuda::Apart apart;
  for (uint32_t i = 0; i < cuda::kPairs; i++) cuda::poll_one();
}

// SPDX-License-Identifier: MIT
// The one body of all hooks of the CUDA driver, instantiated for each Spec. What a call needs to
// know is taken after it, out of the time that is measured; what it takes away, before.
#pragma once

#include "guest/call.h"
#include "guest/records.h"
#include "guest/runtime.h"
#include "sources/cuda/amounts.guest.h"
#include "sources/cuda/driver.guest.h"
#include "sources/cuda/pairs.guest.h"
#include "sources/cuda/state.guest.h"
#include "sources/device_work.guest.h"

namespace fathom::guest::cuda {

// What a record of a call says, besides its kind. Filled in by one thread, on its stack.
struct Facts {
  uint64_t begin = 0, end = 0;
  uint8_t depth = 0;
  int result = 0;
  Place place;
  uint64_t stream = 0;
  uint64_t correlation = 0;
  uint64_t size = 0;
  Direction direction = Direction::kNone;
  Account account;
  Graph graph;
  uint32_t kernel = 0;
  unsigned extents[6] = {};  // grid and block
  unsigned shared = 0;
  bool capturing = false;
};

FATHOM_HOT uint8_t* put_launch(uint8_t* at, const Facts& facts) {
  at = fathom_put_varint(at, facts.kernel);
  for (const unsigned extent : facts.extents) at = fathom_put_varint(at, extent);
  return fathom_put_varint(at, fathom_zigzag(facts.shared));
}

FATHOM_HOT uint8_t* put_graph(uint8_t* at, const Graph& graph, const Account& account) {
  at = fathom_put_varint(fathom_put_varint(at, graph.id), graph.kernels);
  at = fathom_put_varint(fathom_put_varint(at, graph.copies), graph.bytes);
  const int64_t in_use = account.in_use > 0 ? account.in_use : 0;
  at = fathom_put_varint(fathom_put_varint(at, account.size), static_cast<uint64_t>(in_use));
  return fathom_put_varint(at, static_cast<unsigned>(account.memory));
}

// The fields in the order of put_schema.
template <const Spec& S>
FATHOM_HOT void write_call(const Facts& facts) {
  if (FATHOM_UNLIKELY(guest.filtered) && !call_wanted(S.kind)) return;
  Writer writer(FATHOM_SOURCE_CUDA);
  if (!writer.ok()) return;
  uint8_t* const head = tls.cursor.at;
  uint8_t* at = put_timed_head(S.kind, facts.depth, facts.end);
  at = fathom_put_varint(at, facts.end - facts.begin);
  unsigned flags = 0;
  if (FATHOM_UNLIKELY(facts.result != 0)) {
    flags |= FATHOM_FLAG_ERROR;
    at = fathom_put_varint(at, static_cast<unsigned>(facts.result));
  }
  if constexpr (S.placed) {
    at = fathom_put_varint(at, fathom_zigzag(facts.place.device));
    at = fathom_put_varint(at, facts.place.context);
  }
  if constexpr (has_stream(S)) at = fathom_put_varint(at, facts.stream);
  if constexpr (has_number(S)) at = fathom_put_varint(at, facts.correlation);
  if constexpr (has_size(S)) at = fathom_put_varint(at, facts.size);
  if constexpr (S.moves) {
    if (facts.result == 0 && !facts.capturing) flags |= FATHOM_FLAG_FULL;
  }
  if constexpr (S.direction != Direction::kNone)
    at = fathom_put_varint(at, static_cast<unsigned>(facts.direction));
  if constexpr (has_memory(S)) {
    at = fathom_put_varint(at, static_cast<unsigned>(facts.account.memory));
    at = fathom_put_varint(at, fathom_zigzag(facts.account.in_use));
  }
  if constexpr (S.launch != Launch::kNone) at = put_launch(at, facts);
  if constexpr (has_graph(S)) at = put_graph(at, facts.graph, facts.account);
  if constexpr (may_be_captured(S)) at = fathom_put_varint(at, facts.capturing ? 1 : 0);
  uint16_t word;
  memcpy(&word, head, 2);
  word = static_cast<uint16_t>(word | flags);
  memcpy(head, &word, 2);
  writer.commit(at);
}

// What the call takes away: nobody else can have the same address or handle before it is called.
template <const Spec& S, class... A>
FATHOM_HOT void effects_begin(Facts& facts, A... a) {
  if constexpr (S.effect == Effect::kFrees) {
    facts.account = memory_leaves((uint64_t)argument<0>(a...));
  } else if constexpr (S.effect == Effect::kEndsStream) {
    facts.stream = stream_id(argument<0>(a...), per_thread(S), true);
    stream_ends(argument<0>(a...));
  } else if constexpr (S.effect == Effect::kEndsContext) {
    pairs_leave(context_number(argument<0>(a...)));
  } else if constexpr (S.effect == Effect::kEndsPrimary) {
    pairs_leave_device(argument<0>(a...));
  } else if constexpr (S.effect == Effect::kUnloads) {
    module_unloads(argument<0>(a...));
  } else if constexpr (S.effect == Effect::kDestroysGraph) {
    graph_ends(argument<0>(a...));
  } else if constexpr (S.effect == Effect::kReleases) {
    facts.account = physical_released(argument<0>(a...));
  } else if constexpr (S.effect == Effect::kUnmaps) {
    facts.account = physical_unmapped(argument<0>(a...), argument<1>(a...));
  } else if constexpr (S.effect == Effect::kBeginsCapture) {
    facts.stream = stream_id(argument<0>(a...), per_thread(S), false);
    capture_begins();  // before it can meet a call of ours
  } else if constexpr (S.effect == Effect::kSwitchesOff) {
    device_work_switched(false);
  }
  (void)facts;
  ((void)a, ...);
}

// What became a node of a graph changes nothing before the graph is launched.
template <const Spec& S, class... A>
FATHOM_COLD void memory_captured(Facts& facts, A... a) {
  if constexpr (S.effect == Effect::kFrees) {
    memory_stays((uint64_t)argument<0>(a...), facts.account);
    facts.account = {};
  }
  ((void)a, ...);
}

template <const Spec& S, class... A>
FATHOM_HOT void memory_changed(Facts& facts, A... a) {
  if constexpr (may_be_captured(S) && has_memory(S)) {
    if (FATHOM_UNLIKELY(facts.capturing)) return memory_captured<S>(facts, a...);
  }
  if constexpr (S.effect == Effect::kAllocates) {
    if constexpr (S.memory == Memory::kRegistered) {
      facts.account = memory_made((uint64_t)argument<0>(a...), facts.size, S.memory, kNoDevice);
    } else {
      facts.account =
          memory_made((uint64_t)*argument<0>(a...), facts.size, S.memory, facts.place.device);
    }
  } else if constexpr (S.effect == Effect::kFrees) {
    facts.account.in_use = memory_left(facts.account);
  } else if constexpr (S.effect == Effect::kCreates) {
    facts.account = physical_made(*argument<0>(a...), facts.size, argument<2>(a...));
  } else if constexpr (S.effect == Effect::kRetains) {
    physical_retained(*argument<0>(a...));
  } else if constexpr (S.effect == Effect::kMaps) {
    physical_mapped(argument<0>(a...), facts.size, argument<3>(a...));
  }
  if constexpr (S.effect == Effect::kLaunchesGraph) {
    facts.graph = graph_of(argument<0>(a...));
    facts.account = graph_memory_made(facts.graph.id);
  }
  if constexpr (has_memory(S) || has_graph(S)) {
    if (facts.account.memory != Memory::kNone) facts.place.device = facts.account.device;
  }
  (void)facts;
  ((void)a, ...);
}

// After a call that worked.
template <const Spec& S, class... A>
FATHOM_HOT void effects_end(Facts& facts, A... a) {
  memory_changed<S>(facts, a...);
  if constexpr (S.effect == Effect::kMakesStream) {
    stream_ends(*argument<0>(a...));              // one that went unseen had the same handle
    stream_id(*argument<0>(a...), false, false);  // its number, before it captures
  } else if constexpr (S.effect == Effect::kEndsContext) {
    forget_context(argument<0>(a...));
  } else if constexpr (S.effect == Effect::kEndsCapture) {
    capture_ends();
  } else if constexpr (S.effect == Effect::kNamesFunction) {
    name_kernel(*argument<0>(a...), argument<1>(a...), argument<2>(a...));
  } else if constexpr (S.effect == Effect::kAliasesKernel) {
    alias_kernel(*argument<0>(a...), argument<1>(a...));
  } else if constexpr (S.effect == Effect::kInstantiates) {
    graph_made(*argument<0>(a...), argument<1>(a...));
  } else if constexpr (S.effect == Effect::kUpdatesGraph) {
    graph_updated(argument<0>(a...), argument<1>(a...));
  } else if constexpr (S.effect == Effect::kInitialises) {
    device_work_begins();
  } else if constexpr (S.effect == Effect::kSwitchesOn) {
    device_work_switched(true);
  }
}

// After one that failed: what was taken away is still there.
template <const Spec& S, class... A>
FATHOM_COLD void effects_undone(Facts& facts, A... a) {
  if constexpr (S.effect == Effect::kFrees) {
    memory_stays((uint64_t)argument<0>(a...), facts.account);
    facts.account = {};
  } else if constexpr (S.effect == Effect::kInitialises) {
    if (device_state_now() == DeviceState::kForked) device_work_is_missed();
  } else if constexpr (S.effect == Effect::kBeginsCapture) {
    capture_ends();
  } else if constexpr (S.effect == Effect::kEndsCapture) {
    if (facts.result >= kInvalidated && facts.result <= kLastCaptureEnd) capture_ends();
  }
  (void)facts;
  ((void)a, ...);
}

template <const Spec& S, class... A>
FATHOM_HOT void read_launch(Facts& facts, A... a) {
  const bool refused = facts.result != 0;
  if constexpr (S.launch == Launch::kArguments) {
    const unsigned extents[] = {argument<1>(a...), argument<2>(a...), argument<3>(a...),
                                argument<4>(a...), argument<5>(a...), argument<6>(a...)};
    memcpy(facts.extents, extents, sizeof extents);
    facts.shared = argument<7>(a...);
    facts.kernel = kernel_name(argument<0>(a...), refused);
  } else if constexpr (S.launch == Launch::kConfig) {
    facts.kernel = kernel_name(argument<1>(a...), refused);
    if (refused) return;
    memcpy(facts.extents, argument<0>(a...), sizeof facts.extents);
    facts.shared = argument<0>(a...)->shared;
  }
}

// Stream 0 of the per-thread twins is the thread's own, and may be captured as such.
template <const Spec& S, class... A>
FATHOM_HOT Handle stream_of(A... a) {
  Handle stream = nullptr;
  if constexpr (S.launch == Launch::kConfig) {
    stream = argument<0>(a...)->stream;
  } else {
    stream = argument<S.stream>(a...);
  }
  return stream == nullptr && per_thread(S) ? reinterpret_cast<Handle>(kThreadStream) : stream;
}

template <const Spec& S, class... A>
FATHOM_HOT void read_stream(Facts& facts, A... a) {
  if constexpr (S.effect == Effect::kEndsStream || S.effect == Effect::kBeginsCapture) {
    return;  // known from before
  } else if constexpr (S.stream == kDefaultStream) {
    facts.stream = stream_id(nullptr, per_thread(S), facts.result != 0);
  } else if constexpr (S.stream >= 0) {
    if (S.launch == Launch::kConfig && facts.result != 0) return;
    Handle stream = stream_of<S>(a...);
    facts.stream = stream_id(stream, per_thread(S), facts.result != 0);
    facts.capturing = facts.result == 0 && is_capturing(stream);
  }
}

template <const Spec& S, class... A>
FATHOM_HOT void read_direction(Facts& facts, A... a) {
  if constexpr (S.direction == Direction::kDescriptor) {
    const void* copy = argument<S.size>(a...);
    facts.direction = S.amount == Amount::kCopy2D
                          ? direction_of(half_at(copy, 16), half_at(copy, 72))
                          : direction_of(half_at(copy, 32), half_at(copy, 120));
  } else if constexpr (S.direction == Direction::kPointers) {
    facts.direction = direction_between(argument<0>(a...), argument<1>(a...));
  } else if constexpr (S.direction == Direction::kLists) {
    if (argument<S.size + 1>(a...) > 0)
      facts.direction = direction_between(*argument<0>(a...), *argument<1>(a...));
  }
}

// Everything that a record says, from the arguments of a call that is over.
template <const Spec& S, class... A>
FATHOM_HOT void gather(Facts& facts, A... a) {
  if constexpr (changes_context(S)) context_may_change();
  if constexpr (S.placed) facts.place = current_place();
  read_stream<S>(facts, a...);
  if constexpr (S.launch != Launch::kNone) read_launch<S>(facts, a...);
  if constexpr (S.direction < Direction::kDescriptor) facts.direction = S.direction;
  if (FATHOM_LIKELY(facts.result == 0)) {
    if constexpr (has_size(S)) facts.size = amount_of<S>(a...);
    read_direction<S>(facts, a...);
    effects_end<S>(facts, a...);
  } else {
    if constexpr (S.amount == Amount::kArgument || S.amount == Amount::kElements)
      facts.size = amount_of<S>(a...);
    effects_undone<S>(facts, a...);
  }
  if constexpr (S.amount == Amount::kFreed) facts.size = facts.account.size;
}

// --- what the device does by it, where that is asked for
// Whether a launch can be timed by events around it, and between which.
constexpr bool can_be_timed(const Spec& s) { return s.launch != Launch::kNone; }

// The number that a call which has no hook left behind is not this one's.
template <const Spec& S, class... A>
FATHOM_COLD EventPair* work_begins(A... a) {
  if (tls.thread != nullptr) tls.thread->gpu_correlation = 0;
  if constexpr (can_be_timed(S)) {
    if (device_state_now() == DeviceState::kSampled) return pair_begins(stream_of<S>(a...));
  }
  ((void)a, ...);
  return nullptr;
}

template <const Spec& S, class... A>
FATHOM_COLD void work_ends(Facts& facts, EventPair* pair, A... a) {
  const bool runs = facts.result == 0 && !facts.capturing;
  if (runs && tls.thread != nullptr) facts.correlation = tls.thread->gpu_correlation;
  if constexpr (can_be_timed(S)) {
    if (pair != nullptr) {
      DeviceRow row;
      row.begin = facts.end;
      row.name = facts.kernel;
      row.device = facts.place.device;
      row.stream = facts.stream;
      memcpy(row.extents, facts.extents, sizeof row.extents);
      row.shared = facts.shared;
      facts.correlation = pair_ends(pair, stream_of<S>(a...), runs, row);
    }
  }
  ((void)a, ...);
}

// When the call's own record is written: rows of the device may follow, and they are told later.
template <const Spec& S, class... A>
FATHOM_COLD void work_settles(const Facts& facts, A... a) {
  if (device_state_now() == DeviceState::kForked) device_work_is_missed();
  if (facts.result != 0) return;
  if (has_work(S) && device_state_now() == DeviceState::kUnasked) device_work_begins();
  if constexpr (waits(S)) {
    if constexpr (S.stream >= 0) {
      device_was_waited_for(true, stream_of<S>(a...));
    } else {
      device_was_waited_for(sizeof...(A) == 0, nullptr);  // all of the context, or an event
    }
  }
  ((void)a, ...);
}

template <class Original>
FATHOM_COLD bool find_original(Original& original) {
  return (find_driver() || load_driver()) && original != nullptr;
}

template <const Spec& S, class... A>
FATHOM_HOT int traced(int (*&original)(A...), A... a) {
  if (FATHOM_UNLIKELY(original == nullptr) && !find_original(original)) return kNoDriver;
  if (!recording(FATHOM_SOURCE_CUDA)) return original(a...);
  Facts facts;
  facts.depth = open_level(FATHOM_FRAME);
  effects_begin<S>(facts, a...);
  const bool watched = has_number(S) && FATHOM_UNLIKELY(guest.live->on[FATHOM_SOURCE_GPU] != 0);
  EventPair* pair = nullptr;
  if constexpr (has_number(S)) {
    if (watched) pair = work_begins<S>(a...);
  }
  facts.begin = tick();
  note_call(S.kind, facts.begin);
  facts.result = original(a...);
  facts.end = tick();
  close_level(facts.depth);
  gather<S>(facts, a...);
  if constexpr (has_number(S)) {
    if (watched) work_ends<S>(facts, pair, a...);
  }
  write_call<S>(facts);
  if constexpr (has_number(S)) {
    if (watched) work_settles<S>(facts, a...);
  }
  return facts.result;
}

}  // namespace fathom::guest::cuda

// SPDX-License-Identifier: MIT
// Layer app: the functions behind <fathom/fathom.h>, and those that -finstrument-functions calls.
#include <errno.h>
#include <fathom/fathom.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/binding.h"
#include "guest/process.h"
#include "guest/records.h"
#include "guest/region_counts.h"
#include "guest/syscalls.h"

#define FATHOM_EXPORT extern "C" __attribute__((visibility("default")))

namespace fathom::guest {

// What a function of -finstrument-functions left when it was entered.
struct FunctionStack {
  static constexpr uint32_t kRoom = 1 << 14;  // mapped; touched as far as the program goes
  struct Entry {
    void* function;
    uint64_t begin;
    uintptr_t frame;
    uint8_t depth;
  };
  Entry entries[kRoom];
};

namespace {

constexpr fathom_source kApp = FATHOM_SOURCE_APP;

FATHOM_COLD uint32_t first_site_id(fathom_site* site) {
  const uint32_t id =
      define_site(site->name != nullptr ? site->name : "", site->category, site->file, site->line);
  __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
  return id;
}
inline uint32_t site_id(fathom_site* site) {
  const uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
  return FATHOM_LIKELY(id != 0) ? id : first_site_id(site);
}

inline __attribute__((always_inline)) void write_region(uint32_t id, uint64_t begin, uint64_t end,
                                                        uint8_t depth) {
  end_counted(kApp, depth, begin);
  Writer writer(kApp);
  if (!writer.ok()) return;
  uint8_t* at = put_timed_head(FATHOM_KIND_REGION, depth, end);
  writer.commit(fathom_put_varint(fathom_put_varint(at, end - begin), id));
}

// Head of an argument: the depth of the innermost open region, and its key. nullptr outside of any
// region.
uint8_t* put_argument(Writer& writer, unsigned kind, uint32_t key, size_t extra) {
  uint8_t* at = room_for(writer, extra + 64, kApp);
  if (at == nullptr) return nullptr;
  at = fathom_put_varint(put_head(at, kind), tls.depth - 1u);
  return fathom_put_varint(at, key);
}

// Levels of an interpreter's frames that run stay open, whatever a region inside them says.
uint64_t above_frames(uint64_t level) {
  return level > tls.thread->frame_level ? level : tls.thread->frame_level;
}

bool in_region() { return recording(kApp) && tls.depth > 0; }

uint32_t key_id(const char* key) { return key != nullptr ? intern_text(key, strlen(key)) : 0; }

FunctionStack* function_stack() {
  if (tls.thread == nullptr) return nullptr;
  if (FATHOM_LIKELY(tls.thread->functions != nullptr)) return tls.thread->functions;
  auto* stack =
      static_cast<FunctionStack*>(sys_mmap(sizeof(FunctionStack), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  tls.thread->functions = stack;
  return stack;
}

// Forgets functions that longjmp left behind, and gives the depth of the one that begins now. They
// are as deep as it is, or deeper (beyond kMaxDepth, by their place on the stack); or they are the
// same function in the same place of the stack, and then they would nest as a recursion does that
// the compiler inlined, which ends at eight.
uint8_t drop_functions(FunctionStack& stack, uint32_t& count, void* function, uintptr_t frame,
                       uint8_t depth) {
  constexpr uint32_t kMostInlined = 8;
  const auto left = [&](const FunctionStack::Entry& entry) {
    return entry.depth >= depth && (depth < kMaxDepth || entry.frame < frame);
  };
  while (count > 0 && left(stack.entries[count - 1])) count--;
  uint32_t alike = 0;
  while (alike < count && stack.entries[count - 1 - alike].frame == frame &&
         stack.entries[count - 1 - alike].function == function)
    alike++;
  if (FATHOM_LIKELY(alike <= kMostInlined)) return depth;
  count -= alike;
  depth = stack.entries[count].depth;
  tls.thread->open_frames[depth] = frame | static_cast<uintptr_t>(Level::kRegion);
  tls.depth = static_cast<uint8_t>(depth + (depth < kMaxDepth ? 1 : 0));
  return depth;
}

// Beyond the room functions are only counted, until longjmp leaves the last one inside.
inline void leave_unrecorded(const FunctionStack& stack, uint32_t& count, uintptr_t frame) {
  constexpr uint32_t kRoom = FunctionStack::kRoom;
  if (FATHOM_UNLIKELY(count > kRoom) && stack.entries[kRoom - 1].frame < frame) count = kRoom;
}

}  // namespace
}  // namespace fathom::guest

using namespace fathom::guest;

FATHOM_EXPORT fathom_region fathom_region_begin(fathom_site* site) {
  (void)site;
  if (!recording(kApp)) return {0, 0};
  const uint8_t depth = open_level(FATHOM_FRAME, Level::kRegion);
  return {begin_counted(depth), depth};
}

FATHOM_EXPORT void fathom_region_end(fathom_site* site, fathom_region region) {
  const uint64_t end = tick();
  if (!recording(kApp) || tls.thread == nullptr) return;
  // Its level stays open until it is written: a handler's region that came between would be as deep
  // as this one, and take its arguments.
  write_region(site_id(site), region.begin, end, static_cast<uint8_t>(region.depth));
  close_level(static_cast<uint8_t>(region.depth));
}

FATHOM_EXPORT fathom_region fathom_span_begin() {
  if (!recording(kApp)) return {0, 0};
  const uint8_t depth = open_level(FATHOM_FRAME, Level::kSpan);
  return {begin_counted(depth), depth};
}

FATHOM_EXPORT void fathom_span_end(fathom_site* site, fathom_region region, uint64_t level) {
  const uint64_t end = tick();
  if (!recording(kApp) || tls.thread == nullptr) return;
  write_region(site_id(site), region.begin, end, static_cast<uint8_t>(region.depth));
  const uint64_t open = above_frames(level);
  if (tls.depth > open) close_level(static_cast<uint8_t>(open));
}

FATHOM_EXPORT uint64_t fathom_levels_open(uint64_t more) {
  if (more == 0 || !recording(kApp)) return tls.depth;
  const uint64_t before = open_level(FATHOM_FRAME, Level::kSpan);
  for (uint64_t i = 1; i < more && tls.depth < kMaxDepth; i++)
    open_level(FATHOM_FRAME, Level::kSpan);
  return before;
}

FATHOM_EXPORT void fathom_levels_set(uint64_t open) {
  if (tls.thread == nullptr) return;
  open = above_frames(open);
  const auto depth = static_cast<uint8_t>(open < kMaxDepth ? open : kMaxDepth);
  for (uint8_t level = tls.depth; level < depth; level++)
    tls.thread->open_frames[level] = static_cast<uintptr_t>(Level::kSpan);
  close_level(depth);
}

FATHOM_EXPORT void fathom_instant(fathom_site* site) {
  if (!recording(kApp)) return;
  const uint64_t now = tick();
  const uint32_t id = site_id(site);
  Writer writer(kApp);
  if (!writer.ok()) return;
  writer.commit(fathom_put_varint(put_timed_head(FATHOM_KIND_INSTANT, tls.depth, now), id));
}

FATHOM_EXPORT void fathom_counter_int(fathom_site* site, int64_t value) {
  if (!recording(kApp)) return;
  const uint64_t now = tick();
  const uint32_t id = site_id(site);
  Writer writer(kApp);
  if (!writer.ok()) return;
  uint8_t* at = fathom_put_varint(put_timed_head(FATHOM_KIND_COUNTER_INT, tls.depth, now), id);
  writer.commit(fathom_put_varint(at, fathom_zigzag(value)));
}

FATHOM_EXPORT void fathom_counter_double(fathom_site* site, double value) {
  if (!recording(kApp)) return;
  const uint64_t now = tick();
  const uint32_t id = site_id(site);
  Writer writer(kApp);
  if (!writer.ok()) return;
  uint8_t* at = fathom_put_varint(put_timed_head(FATHOM_KIND_COUNTER_DOUBLE, tls.depth, now), id);
  memcpy(at, &value, 8);
  writer.commit(at + 8);
}

FATHOM_EXPORT void fathom_arg_int(const char* key, int64_t value) {
  if (!in_region()) return;
  const uint32_t id = key_id(key);
  Writer writer(kApp);
  uint8_t* at = put_argument(writer, FATHOM_KIND_ARG_INT, id, 0);
  if (at != nullptr) writer.commit(fathom_put_varint(at, fathom_zigzag(value)));
}

FATHOM_EXPORT void fathom_arg_uint(const char* key, uint64_t value) {
  if (!in_region()) return;
  const uint32_t id = key_id(key);
  Writer writer(kApp);
  uint8_t* at = put_argument(writer, FATHOM_KIND_ARG_UINT, id, 0);
  if (at != nullptr) writer.commit(fathom_put_varint(at, value));
}

FATHOM_EXPORT void fathom_arg_double(const char* key, double value) {
  if (!in_region()) return;
  const uint32_t id = key_id(key);
  Writer writer(kApp);
  uint8_t* at = put_argument(writer, FATHOM_KIND_ARG_DOUBLE, id, 0);
  if (at == nullptr) return;
  memcpy(at, &value, 8);
  writer.commit(at + 8);
}

FATHOM_EXPORT void fathom_arg_text(const char* key, const char* value) {
  if (!in_region() || value == nullptr) return;
  const uint32_t id = key_id(key);
  size_t length = strlen(value);
  if (length > FATHOM_TEXT_MAX) {
    count_loss(kApp, FATHOM_LOSS_TEXT_CUT);
    length = FATHOM_TEXT_MAX;
  }
  Writer writer(kApp);
  uint8_t* at = put_argument(writer, FATHOM_KIND_ARG_TEXT, id, length);
  if (at == nullptr) return;
  at = fathom_put_varint(at, length);
  memcpy(at, value, length);
  writer.commit(at + length);
}

FATHOM_EXPORT void fathom_metadata(const char* key, const char* value) {
  if (key != nullptr && value != nullptr && recording(kApp)) write_meta(key, value, strlen(value));
}

// The compiler calls these at the begin and end of every function; errno is the program's here too.
FATHOM_EXPORT void fathom_function_enter(void* function, void*) __asm__("__cyg_profile_func_enter");
FATHOM_EXPORT void fathom_function_exit(void* function, void*) __asm__("__cyg_profile_func_exit");

void fathom_function_enter(void* function, void*) {
  if (!recording(kApp)) return;
  const uintptr_t frame = FATHOM_FRAME;
  uint8_t depth = open_level(frame, Level::kRegion);
  FunctionStack* stack = function_stack();
  if (stack == nullptr) return;
  uint32_t& count = tls.thread->function_count;
  constexpr uint32_t kRoom = FunctionStack::kRoom;
  leave_unrecorded(*stack, count, frame);
  if (FATHOM_LIKELY(count <= kRoom)) depth = drop_functions(*stack, count, function, frame, depth);
  const uint32_t at = count++;
  if (FATHOM_LIKELY(at < kRoom))
    stack->entries[at] = {function, begin_counted(depth), frame, depth};
}

void fathom_function_exit(void* function, void*) {
  const uint64_t end = tick();
  if (!recording(kApp)) return;
  FunctionStack* stack = function_stack();
  if (stack == nullptr || tls.thread->function_count == 0) return;
  uint32_t& count = tls.thread->function_count;
  leave_unrecorded(*stack, count, FATHOM_FRAME);
  if (FATHOM_UNLIKELY(count > FunctionStack::kRoom)) {
    count--;
    return count_loss(kApp, FATHOM_LOSS_TOO_DEEP);
  }
  // longjmp may have left functions behind: those above the one that ends now.
  uint32_t at = count;
  while (at > 0 && stack->entries[at - 1].function != function) at--;
  if (at == 0) return;
  count = at - 1;
  const FunctionStack::Entry entry = stack->entries[at - 1];
  const uint32_t id = intern_function(function);
  write_region(id, entry.begin, end, entry.depth);
  close_level(entry.depth);
}

namespace fathom::guest {
namespace {

void* nothing_original = nullptr;
#define ROW(symbol) \
  { #symbol, reinterpret_cast < void*>(&symbol), &nothing_original }
const Binding kRows[] = {
    ROW(fathom_region_begin),
    ROW(fathom_region_end),
    ROW(fathom_span_begin),
    ROW(fathom_span_end),
    ROW(fathom_levels_open),
    ROW(fathom_levels_set),
    ROW(fathom_instant),
    ROW(fathom_counter_int),
    ROW(fathom_counter_double),
    ROW(fathom_arg_int),
    ROW(fathom_arg_uint),
    ROW(fathom_arg_double),
    ROW(fathom_arg_text),
    ROW(fathom_metadata),
    {"__cyg_profile_func_enter", reinterpret_cast<void*>(&fathom_function_enter),
     &nothing_original},
    {"__cyg_profile_func_exit", reinterpret_cast<void*>(&fathom_function_exit), &nothing_original},
};
#undef ROW

}  // namespace

namespace annotate {
extern const Bindings kBindings;
const Bindings kBindings{kRows, sizeof kRows / sizeof *kRows};
}  // namespace annotate

}  // namespace fathom::guest

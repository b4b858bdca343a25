// SPDX-License-Identifier: MIT
// Rewrites LD_PRELOAD and FATHOM_OUT of a program that is about to be executed. The environment
// belongs to the program and may be a bad pointer, so it is copied through the kernel.
#include "guest/new_environment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "guest/pool_file.h"
#include "guest/relative_out.h"
#include "guest/runtime.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/exec.h"

extern "C" char** environ;

namespace fathom::guest {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kOut[] = "FATHOM_OUT=";
constexpr size_t kHead = sizeof kPreload - 1;  // of either
static_assert(sizeof kPreload == sizeof kOut);
constexpr size_t kMostVariables = 100000;

}  // namespace

constinit const char* relative_out = nullptr;

// An environment that may lie anywhere, or nowhere: a bad pointer is the kernel's to refuse. The
// program's own is read as getenv() reads it, and any where the kernel copies nothing for us.
class Variables {
 public:
  explicit Variables(char* const* all) : all_(all), plain_(all == environ) {
    const char* first = nullptr;
    const long copied = plain_ ? 0 : sys_copy_own(&first, all, sizeof first);
    plain_ = plain_ || copied == -EPERM || copied == -ENOSYS;
  }

  [[nodiscard]] size_t count() const { return count_; }  // once one was looked for

  // Whether a variable is among them, and where.
  bool find(const char* name, size_t* place) {
    size_t found = SIZE_MAX, total = 0;
    while (total < kMostVariables) {
      const char* some[kSome];
      const size_t got = take(total, some);
      const size_t match = first_in(some, got, name);
      if (found == SIZE_MAX && match < got) found = total + match;
      total += got;
      if (got < kSome) break;
    }
    *place = found;
    count_ = total;
    return found != SIZE_MAX;
  }

  // The value of the variable that was found at `place`; false where it does not fit.
  bool copy_value(size_t place, char* room, size_t size) const {
    const char* variable = nullptr;
    if (plain_) {
      variable = all_[place];
    } else if (sys_copy_own(&variable, all_ + place, sizeof variable) != sizeof variable) {
      return false;
    }
    return copy_text(variable + kHead, room, size);
  }

  // Those that `is_kept(variable, place)` wants.
  template <class Keep>
  void copy(char** to, Keep is_kept) const {
    for (size_t at = 0; at < count_;) {
      const char* some[kSome];
      const size_t got = take(at, some);
      for (size_t i = 0; i < got; i++) {
        if (is_kept(some[i], at + i)) *to++ = const_cast<char*>(some[i]);
      }
      if (got < kSome) break;
      at += got;
    }
    *to = nullptr;
  }

  // A text with its NUL, which may not be there; false where it does not fit.
  bool copy_text(const char* from, char* room, size_t size) const {
    const long copied =
        plain_ ? static_cast<long>(strnlen(from, size - 1) + 1) : sys_copy_own(room, from, size);
    if (copied <= 0) return false;
    if (plain_) memcpy(room, from, static_cast<size_t>(copied));
    return strnlen(room, static_cast<size_t>(copied)) < static_cast<size_t>(copied);
  }

 private:
  static constexpr size_t kSome = 32;

  // As many as come before the end, kSome at most.
  size_t take(size_t from, const char** to) const {
    size_t got = 0;
    if (plain_) {
      while (got < kSome && all_ != nullptr && all_[from + got] != nullptr) {
        to[got] = all_[from + got];
        got++;
      }
      return got;
    }
    const long bytes = sys_copy_own(to, all_ + from, kSome * sizeof *to);
    const size_t there = bytes > 0 ? static_cast<size_t>(bytes) / sizeof *to : 0;
    while (got < there && to[got] != nullptr) got++;
    return got;
  }

  // The first of them that is `name`; `count` where none is.
  size_t first_in(const char* const* some, size_t count, const char* name) const {
    char heads[kSome * kHead];
    for (size_t at = 0; at < count;) {
      const size_t got = plain_ ? 0 : copy_heads(some + at, count - at, heads);
      for (size_t i = 0; i < got; i++) {
        if (memcmp(heads + i * kHead, name, kHead) == 0) return at + i;
      }
      at += got;
      if (at < count && plain_ && *some[at] == *name && strncmp(some[at], name, kHead) == 0)
        return at;
      at++;  // read above, or shorter than the name and at the end of its page
    }
    return count;
  }

  // How many could be copied before one that could not.
  static size_t copy_heads(const char* const* some, size_t count, char* heads) {
    struct {
      const void* base;
      size_t length;
    } local{heads, count * kHead}, remote[kSome];
    for (size_t i = 0; i < count; i++) remote[i] = {some[i], kHead};
    const long bytes = raw_syscall(SYS_process_vm_readv, sys_getpid(), as_long(&local), 1,
                                   as_long(remote), static_cast<long>(count), 0);
    return bytes > 0 ? static_cast<size_t>(bytes) / kHead : 0;
  }

  char* const* all_;
  bool plain_;
  size_t count_ = 0;
};

namespace {

// A library of ours by its name, wherever it lies.
bool is_ours(const char* word, size_t length) {
  constexpr const char* kNames[] = {
      "libfathom.so",           "libfathom_heap.so",          "libpfinterpose.so",
      "libpfinterpose_heap.so", "libdftracer_preload.so",     "libdftracer.so",
      "libdftracer_core.so",    "libdftracer_preload_dbg.so", "libdftracer_core_dbg.so",
      "libdatacrumbs.so",       "libdatacrumbs_client.so"};
  const char* name = word;
  for (size_t i = 0; i < length; i++) {
    if (word[i] == '/') name = word + i + 1;
  }
  const auto rest = static_cast<size_t>(word + length - name);
  for (const char* own : kNames) {
    if (strlen(own) == rest && memcmp(own, name, rest) == 0) return true;
  }
  return false;
}

// What the loader of the new program meets at a path.
unsigned obstacle_at(const char* path) {
  const int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
  if (fd >= 0) sys_close(fd);
  if (fd == -EACCES || fd == -EPERM) return FATHOM_EXEC_UNREADABLE;
  return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? FATHOM_EXEC_OTHER_ROOT : 0;
}

// The libraries of a list, which the loader splits at spaces and colons; `visit` may change the
// letter behind a word meanwhile.
template <class Visit>
void for_words(char* list, Visit visit) {
  for (char* at = list; *at != 0;) {
    char* end = at;
    while (*end != 0 && *end != ' ' && *end != ':') end++;
    if (end != at) visit(at, static_cast<size_t>(end - at));
    at = *end != 0 ? end + 1 : end;
  }
}

struct OurPlace {
  bool named = false;
  unsigned obstacles = 0;
};

OurPlace our_place_in(char* list) {
  OurPlace ours;
  for_words(list, [&](char* word, size_t length) {
    if (!is_ours(word, length)) return;
    ours.named = true;
    const char behind = word[length];
    word[length] = 0;
    if (strchr(word, '/') != nullptr) ours.obstacles |= obstacle_at(word);
    word[length] = behind;
  });
  return ours;
}

// A child of vfork leaves the room that it took to its parent, whose thread has the same Tls: it is
// taken again by the next one that the thread starts so.
struct Room {
  const void* owner;  // atomic
  char* at;
  size_t size;
};
constexpr int kRooms = 8;
// A program that has lowered its limit of addresses gets no other: some 1500 variables.
constexpr size_t kFirstRoom = 16384;
alignas(kLarge) constinit char first_room[kFirstRoom] = {};
constinit Room rooms[kRooms] = {{nullptr, first_room, kFirstRoom}};

int take_room(size_t size) {
  const void* self = &tls;
  for (int i = 0; i < kRooms; i++) {
    const void* owner = nullptr;
    Room& room = rooms[i];
    if (__atomic_load_n(&room.owner, __ATOMIC_ACQUIRE) != self &&
        !__atomic_compare_exchange_n(&room.owner, &owner, self, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
      continue;
    if (room.size >= size) return i;
    if (room.at != nullptr && room.at != first_room) sys_munmap(room.at, room.size);
    room.at =
        static_cast<char*>(sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    room.size = room.at != nullptr ? size : 0;
    if (room.at != nullptr) return i;
    __atomic_store_n(&room.owner, nullptr, __ATOMIC_RELEASE);
    return -1;
  }
  return -1;
}

void give_room(int number) { __atomic_store_n(&rooms[number].owner, nullptr, __ATOMIC_RELEASE); }

// The limit is the new program's, the stack of this one has its size.
unsigned obstacle_in_limits() {
  rlimit limit{};
  const bool known = raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, as_long(&limit)) == 0;
  if (known && limit.rlim_cur < FATHOM_LEAST_STACK) return FATHOM_EXEC_SMALL_STACK;
  return address_limit() < FATHOM_LEAST_ADDRESSES ? FATHOM_EXEC_FEW_ADDRESSES : 0;
}

// The new program may begin in another directory than this one did, and is part of the same run.
// The room that its variables are in then, or -1.
int make_out_absolute(Variables& variables, char* const** changed) {
  const Scratch value;
  size_t place = 0;
  if (relative_out == nullptr || !variables.find(kOut, &place) || value.text() == nullptr ||
      !variables.copy_value(place, value.text(), Scratch::kRoom) ||
      strcmp(value.text(), relative_out) != 0)
    return -1;
  const size_t pointers = (variables.count() + 1) * sizeof(char*);
  const int room = take_room(pointers + Scratch::kRoom);
  if (room < 0) return -1;
  char* const text = rooms[room].at + pointers;
  Text(text, Scratch::kRoom).add(kOut).add(guest.out, length_of_recording());
  auto** to = reinterpret_cast<char**>(rooms[room].at);
  *changed = to;
  *to++ = text;
  variables.copy(to, [&](const char*, size_t at) { return at != place; });
  return room;
}

// Whoever starts it records it himself: `fathom run` inside `fathom run`.
unsigned other_run_in(Variables& variables) {
  const Scratch value;
  size_t place = 0;
  if (!variables.find(kOut, &place) || value.text() == nullptr ||
      !variables.copy_value(place, value.text(), Scratch::kRoom) || value.text()[0] != '/')
    return 0;
  const size_t length = length_of_recording();
  const bool same = strlen(value.text()) == length && memcmp(value.text(), guest.out, length) == 0;
  return same ? 0 : FATHOM_EXEC_OTHER_RUN;
}

constexpr unsigned kTurnsAway = FATHOM_EXEC_OTHER_MACHINE | FATHOM_EXEC_OTHER_LIBC |
                                FATHOM_EXEC_OTHER_ROOT | FATHOM_EXEC_UNREADABLE |
                                FATHOM_EXEC_SMALL_STACK | FATHOM_EXEC_FEW_ADDRESSES;

}  // namespace

NewEnvironment::NewEnvironment(const NewProgram& program, char* const* environment)
    : variables_(environment) {
  if (is_confined()) {
    flags_ = FATHOM_EXEC_CONFINED;  // nothing can be looked at
    return;
  }
  Variables variables(environment);
  room_ = make_out_absolute(variables, &variables_);
  const Scratch list;
  size_t place = 0;
  const bool preloads = variables.find(kPreload, &place);
  if (preloads &&
      (list.text() == nullptr || !variables.copy_value(place, list.text(), Scratch::kRoom)))
    return;
  const OurPlace ours = preloads ? our_place_in(list.text()) : OurPlace();
  if (!ours.named) {
    flags_ = FATHOM_EXEC_WITHOUT_LIBRARY;
    return;
  }
  flags_ = ours.obstacles | obstacle_in_limits() | obstacles_in(program, &path_was_read_) |
           other_run_in(variables);
  if ((flags_ & kTurnsAway) != 0) leave_us_out(variables, place, list.text());
  // The others are programs that nobody could have recorded so.
  if ((flags_ & (FATHOM_EXEC_SMALL_STACK | FATHOM_EXEC_FEW_ADDRESSES)) != 0)
    count_loss(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_UNBOUND);
}

// What `fathom run` put there (session/environment.cc): a program with hardly any stack has its
// environment on it, and hands nothing on to programs that have more.
bool NewEnvironment::is_of_the_recorder(const Variables& variables, const char* variable) {
  const Scratch text;
  if (text.text() == nullptr || !variables.copy_text(variable, text.text(), Scratch::kRoom))
    return false;
  constexpr char kRanges[] = "NVTX_INJECTION64_PATH=";
  const auto starts = [&](const char* with) {
    return strncmp(text.text(), with, strlen(with)) == 0;
  };
  return starts("FATHOM_") || strcmp(text.text(), "ASAN_OPTIONS=verify_asan_link_order=0") == 0 ||
         (starts(kRanges) && is_ours(text.text(), strlen(text.text())));
}

void NewEnvironment::leave_us_out(const Variables& variables, size_t place, char* list) {
  const size_t pointers = (variables.count() + 1) * sizeof(char*);
  room_ = take_room(pointers + Scratch::kRoom);  // the one that this thread has, if it has one
  if (room_ < 0) return;
  char* const text = rooms[room_].at + pointers;
  Text others(text, Scratch::kRoom);
  others.add(kPreload);
  for_words(list, [&](char* word, size_t length) {
    if (is_ours(word, length)) return;
    if (others.length() > kHead) others.add(":");
    others.add(word, length);
  });
  auto** to = reinterpret_cast<char**>(rooms[room_].at);
  variables_ = to;
  if (others.length() > kHead) *to++ = text;
  const bool small = (flags_ & FATHOM_EXEC_SMALL_STACK) != 0;
  variables.copy(to, [&](const char* variable, size_t at) {
    return at != place && !(small && is_of_the_recorder(variables, variable));
  });
}

NewEnvironment::~NewEnvironment() {
  if (room_ >= 0) give_room(room_);
}

}  // namespace fathom::guest

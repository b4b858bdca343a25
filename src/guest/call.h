// SPDX-License-Identifier: MIT
// How a call of libc becomes a record: a constexpr Spec says what its arguments and its result mean
// and what it does to descriptors; `traced` is the one body of all hooks, instantiated for each
// Spec so that nothing is decided at run time.
//
// Neither our system calls nor anything else here touches errno: it is read when the call failed,
// and never written.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>

#include <type_traits>

#include "guest/binding.h"
#include "guest/descriptors.h"
#include "guest/records.h"
#include "guest/runtime.h"
#include "guest/sharing.h"
#include "guest/source_rows.h"

namespace fathom::guest {

enum class Ret : uint8_t {
  kVoid,     // returns nothing, or nothing of interest
  kStatus,   // -1: failed
  kBytes,    // -1: failed, else bytes moved
  kFd,       // -1: failed, else a descriptor
  kPointer,  // NULL (or MAP_FAILED): failed
  kErrno,    // the error's number, or 0
  kValue,    // any number: it cannot fail
};

enum class Effect : uint8_t {
  kNone,
  kReads,       // moves bytes from the file position
  kWrites,      // moves bytes to the file position
  kSeeks,       // sets the file position to the result
  kOpens,       // the result is a descriptor of `path`
  kCloses,      // `fd` goes
  kDuplicates,  // the result is another descriptor of what `fd` means
  kReplaces,    // `fd2` is replaced by what `fd` means
  kChangesDirectory,
  kForks,  // makes a child that inherits our descriptors
};

// What moved, where the result is not a number of bytes (stdio).
enum class Measure : uint8_t {
  kNone,
  kItems,   // the result, times the size of an item
  kLine,    // the length of the line that came (fgets)
  kText,    // the length of the text that went (fputs)
  kByte,    // one, unless the result is EOF
  kResult,  // the result, where it is positive (getline, printf)
};

// Which stream a call of stdio uses.
enum class Stream : uint8_t { kArgument, kIn, kOut, kErr };

// A row of a table of calls, as a constant that `traced` is compiled for.
struct Spec {
  const char* name;   // the plain name, as SQL shows it
  const char* entry;  // the entry point
  const char* category;
  uint16_t kind = 0;
  fathom_source source = FATHOM_SOURCE_POSIX;
  const char* layer = "posix";
  Ret ret = Ret::kStatus;
  Effect effect = Effect::kNone;
  // Positions of arguments, -1: none.
  int8_t fd = -1, fd2 = -1, dirfd = -1, path = -1, dirfd2 = -1, path2 = -1, size = -1, offset = -1;
  int8_t pieces = -1;  // an iovec array, its count behind it: the size is their sum
  int8_t flags = -1;
  const char* flags_key = nullptr;  // the name of the argument that `flags` points at
  Stream stream = Stream::kArgument;
  Measure measure = Measure::kNone;
  int8_t count = -1;   // items: `size` is the size of one, this is how many
  bool input = false;  // end of file is no error
};

constexpr bool is_text(const char* one, const char* other) {
  for (; *one != 0 && *one == *other; one++) other++;
  return *one == *other;
}

// Which fields a kind has, in the order in which they are written.
constexpr bool has_file(const Spec& s) {
  return s.fd >= 0 || s.path >= 0 || s.stream != Stream::kArgument;
}
constexpr bool moves_position(const Spec& s) {
  return s.effect == Effect::kReads || s.effect == Effect::kWrites;
}
constexpr bool has_offset(const Spec& s) { return s.offset >= 0 || moves_position(s); }
constexpr bool has_size(const Spec& s) { return s.size >= 0 || s.pieces >= 0; }
constexpr bool has_item(const Spec& s) { return s.measure == Measure::kItems; }
constexpr bool has_bytes(const Spec& s) {
  return s.measure != Measure::kNone && s.measure != Measure::kItems;
}
constexpr bool has_ret(const Spec& s) { return s.ret != Ret::kVoid && s.ret != Ret::kPointer; }
// Names a second file: a path, or the descriptor that bytes are copied to.
constexpr bool has_target(const Spec& s) {
  return s.path2 >= 0 || (s.fd2 >= 0 && s.effect != Effect::kReplaces);
}
constexpr bool counts_bytes(const Spec& s) { return s.ret == Ret::kBytes || has_item(s); }

template <int I, class First, class... Rest>
constexpr auto argument(First first, Rest... rest) {
  if constexpr (I == 0) {
    return first;
  } else {
    return argument<I - 1>(rest...);
  }
}

// The error's number, 0 when the call worked. errno itself stays as it is.
template <class R>
FATHOM_HOT int error_of(Ret kind, R ret) {
  if constexpr (std::is_pointer_v<R>) {
    return kind == Ret::kPointer && (ret == nullptr || reinterpret_cast<intptr_t>(ret) == -1)
               ? errno
               : 0;
  } else {
    if (kind == Ret::kErrno) return static_cast<int>(ret);
    if (kind == Ret::kValue || kind == Ret::kVoid) return 0;
    return FATHOM_UNLIKELY(ret == static_cast<R>(-1)) ? errno : 0;
  }
}

// What a record of a call says, besides its kind.
struct Facts {
  uint64_t begin = 0, end = 0;
  uint8_t depth = 0;
  int error = 0;
  int fd = -1;
  uint32_t file = 0;
  int64_t offset = kUnknown;
  bool elsewhere = false;  // as PositionUse has it
  uint64_t size = 0;
  int64_t ret = 0;
  int64_t flags = 0;
  uint32_t path2 = 0;
  uint64_t item = 1;
  uint64_t bytes = 0;
};

bool call_wanted(uint16_t kind);
void choose_calls(const char* list);  // FATHOM_CALLS

uint64_t size_of_pieces(const iovec* pieces, size_t count);

// Texts are read only when the kernel has read them before us: a bad pointer is its to refuse.
uint32_t path_of_call(int directory, const char* path, int error);

FATHOM_HOT uint64_t file_key(int fd, uint32_t file) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(fd)) << 32 | file) + 1;
}

// fd and file, unless they are those of the record before.
FATHOM_HOT uint8_t* put_file(uint8_t* at, Cursor& cursor, unsigned& flags, int fd, uint32_t file) {
  const uint64_t key = file_key(fd, file);
  if (FATHOM_LIKELY(cursor.last_file == key)) {
    flags |= FATHOM_FLAG_SAME;
    return at;
  }
  cursor.last_file = key;
  cursor.last_stop = 0;
  return fathom_put_varint(fathom_put_varint(at, fathom_zigzag(fd)), file);
}

FATHOM_HOT uint8_t* put_offset(uint8_t* at, Cursor& cursor, int64_t offset, int64_t moved) {
  if (offset < 0) return fathom_put_varint(at, 0);
  at = fathom_put_varint(at, 1 + fathom_zigzag(offset - cursor.last_stop));
  cursor.last_stop = offset + (moved > 0 ? moved : 0);
  return at;
}

template <const Spec& S>
FATHOM_HOT void write_call(const Facts& facts) {
  if (FATHOM_UNLIKELY(guest.filtered) && !call_wanted(S.kind)) return;
  Writer writer(S.source);
  if (!writer.ok()) return;
  Cursor& cursor = tls.cursor;
  uint8_t* const head = cursor.at;
  uint8_t* at = put_timed_head(S.kind, facts.depth, facts.end);
  at = fathom_put_varint(at, facts.end - facts.begin);
  unsigned flags = 0;
  if (FATHOM_UNLIKELY(facts.error != 0)) {
    flags |= FATHOM_FLAG_ERROR;
    at = fathom_put_varint(at, static_cast<unsigned>(facts.error));
  }
  if constexpr (has_file(S)) at = put_file(at, cursor, flags, facts.fd, facts.file);
  if constexpr (moves_position(S)) {
    if (FATHOM_UNLIKELY(facts.elsewhere)) flags |= FATHOM_FLAG_ELSEWHERE;
  }
  if constexpr (has_offset(S))
    at = put_offset(at, cursor, facts.offset, facts.error != 0 ? 0 : facts.ret);
  if constexpr (has_size(S)) at = fathom_put_varint(at, facts.size);
  if constexpr (has_item(S)) at = fathom_put_varint(at, facts.item);
  if constexpr (has_ret(S)) {
    if (has_size(S) && counts_bytes(S) && facts.error == 0 &&
        static_cast<uint64_t>(facts.ret) * facts.item == facts.size) {
      flags |= FATHOM_FLAG_FULL;
    } else if (facts.error == 0) {
      at = fathom_put_varint(at, fathom_zigzag(facts.ret));
    }
  }
  if constexpr (has_bytes(S)) at = fathom_put_varint(at, facts.bytes);
  if constexpr (S.flags >= 0) at = fathom_put_varint(at, fathom_zigzag(facts.flags));
  if constexpr (has_target(S)) at = fathom_put_varint(at, facts.path2);
  uint16_t word;
  memcpy(&word, head, 2);
  word = static_cast<uint16_t>(word | flags);
  memcpy(head, &word, 2);
  writer.commit(at);
}

// --- effects before and after the call
// ----------------------------------------------------------------------------------

template <const Spec& S, class... A>
FATHOM_HOT uint64_t effects_begin(A... a) {
  if constexpr (S.effect == Effect::kCloses) {
    change_begins();
    descriptor_closes(argument<S.fd>(a...));
  } else if constexpr (S.effect == Effect::kReplaces) {
    change_begins();
    const int target = argument<S.fd2>(a...);
    const uint64_t before = descriptor_word(target);
    if (target != argument<S.fd>(a...)) descriptor_closes(target);
    return before;
  } else if constexpr (S.effect == Effect::kOpens || S.effect == Effect::kDuplicates) {
    change_begins();
  } else if constexpr (S.effect == Effect::kForks) {
    prepare_fork();
  }
  return 0;
}

void directory_changed();

template <const Spec& S, class R, class... A>
FATHOM_HOT void effects_end(const Facts& facts, uint64_t replaced, R ret, A... a) {
  const bool worked = facts.error == 0;
  (void)worked;
  (void)replaced;
  if constexpr (S.effect == Effect::kOpens) {
    if (worked) {
      int flags = 0;
      if constexpr (S.flags >= 0) flags = static_cast<int>(argument<S.flags>(a...));
      descriptor_opened(static_cast<int>(ret), facts.file, flags);
    }
    change_ends();
  } else if constexpr (S.effect == Effect::kCloses) {
    change_ends();
  } else if constexpr (S.effect == Effect::kDuplicates) {
    if (worked) descriptor_duplicated(argument<S.fd>(a...), static_cast<int>(ret));
    change_ends();
  } else if constexpr (S.effect == Effect::kReplaces) {
    const int source = argument<S.fd>(a...), target = argument<S.fd2>(a...);
    if (source != target && worked) descriptor_duplicated(source, target);
    if (source != target && !worked) descriptor_restore(target, replaced);
    change_ends();
  } else if constexpr (S.effect == Effect::kChangesDirectory) {
    if (worked) directory_changed();
  }
}

// The offset of a call that was told where: not where the bytes go, if they are appended. preadv2
// and pwritev2 take -1 for the position, and move it then.
template <const Spec& S, class... A>
FATHOM_HOT int64_t offset_of_call(uint64_t word, A... a) {
  const auto offset = static_cast<int64_t>(argument<S.offset>(a...));
  if constexpr (S.ret == Ret::kBytes && S.pieces >= 0 && sizeof...(A) == 5) {
    constexpr int kAppends = 0x10;  // RWF_APPEND
    if (offset == -1) position_lost(argument<S.fd>(a...));
    if ((argument<4>(a...) & kAppends) != 0) return kUnknown;
  }
  if constexpr (is_text(S.category, "write")) {
    if (FATHOM_UNLIKELY((word & kWordAppend) != 0)) return kUnknown;
  }
  return offset;
}

// Where a source is off, its calls still say what becomes of descriptors, positions and the working
// directory: the other sources' names depend on it. Not before attach, nor in a child that shares
// our memory and is not us.
FATHOM_HOT bool keeps_descriptors() { return in_program(); }

// A call that closes or replaces a descriptor, of a source that is off.
template <class Call>
FATHOM_HOT auto unrecorded_close(int fd, Call call) {
  const bool keeps = keeps_descriptors();
  if (keeps) {
    change_begins();
    descriptor_closes(fd);
  }
  const auto ret = call();
  if (keeps) change_ends();
  return ret;
}

void write_facts(const Spec& spec, const Facts& facts);  // as write_call, decided at run time

// What write_facts asks of a Spec. With its texts each would be five pointers, which the loader has
// to relocate at the start of every program.
constexpr Spec without_texts(Spec spec) {
  spec.name = spec.entry = spec.category = spec.layer = spec.flags_key = nullptr;
  return spec;
}
template <const Spec& S>
constexpr Spec kWithoutTexts = without_texts(S);

// A call of a child that shares our memory and runs in this thread's place (sharing.h).
template <const Spec& S, class R, class... A>
FATHOM_COLD R lodged(R (*original)(A...), A... a) {
  Facts facts;
  if constexpr (S.fd >= 0) {
    facts.fd = argument<S.fd>(a...);
    facts.file = file_of_lodger(facts.fd);
  }
  if constexpr (S.fd2 >= 0 && has_target(S)) facts.path2 = file_of_lodger(argument<S.fd2>(a...));
  facts.begin = tick();
  const R ret = original(a...);
  facts.end = tick();
  facts.error = error_of(S.ret, ret);
  if constexpr (has_ret(S)) facts.ret = static_cast<int64_t>(ret);
  if constexpr (S.size >= 0) facts.size = static_cast<uint64_t>(argument<S.size>(a...));
  if constexpr (S.pieces >= 0) {
    if (facts.error == 0)
      facts.size = size_of_pieces(argument<S.pieces>(a...),
                                  static_cast<size_t>(argument<S.pieces + 1>(a...)));
  }
  if constexpr (S.offset >= 0) facts.offset = static_cast<int64_t>(argument<S.offset>(a...));
  if constexpr (S.flags >= 0) facts.flags = static_cast<int64_t>(argument<S.flags>(a...));
  if constexpr (S.path >= 0) {
    int directory = AT_FDCWD;
    if constexpr (S.dirfd >= 0) directory = argument<S.dirfd>(a...);
    facts.file = path_of_call(directory, argument<S.path>(a...), facts.error);
    if constexpr (S.ret == Ret::kFd) facts.fd = static_cast<int>(ret);
  }
  if constexpr (S.path2 >= 0) {
    int directory = AT_FDCWD;
    if constexpr (S.dirfd2 >= 0) directory = argument<S.dirfd2>(a...);
    facts.path2 = path_of_call(directory, argument<S.path2>(a...), facts.error);
  }
  if constexpr (S.effect == Effect::kChangesDirectory) {
    if (facts.error == 0) lodger_moves();
  }
  write_facts(kWithoutTexts<S>, facts);
  return ret;
}

template <const Spec& S, class R, class... A>
FATHOM_COLD R unrecorded(R (*original)(A...), A... a) {
  const Caller caller = caller_of(S.source);
  if (caller == Caller::kLodger) return lodged<S>(original, a...);
  if (caller == Caller::kStranger) return original(a...);
  if constexpr (S.effect == Effect::kCloses || S.effect == Effect::kReplaces) {
    constexpr int8_t kGoes = S.effect == Effect::kCloses ? S.fd : S.fd2;
    return unrecorded_close(argument<kGoes>(a...), [&] { return original(a...); });
  } else if constexpr (S.effect == Effect::kChangesDirectory) {
    const R ret = original(a...);
    if (ret == 0 && keeps_descriptors()) directory_changed();
    return ret;
  } else {
    return original(a...);
  }
}

// Times one call of a hand-written hook.
#define FATHOM_TIMED(facts, spec, expression)      \
  ({                                               \
    (facts).depth = open_level(FATHOM_FRAME);      \
    (facts).begin = tick();                        \
    note_call((spec).kind, (facts).begin);         \
    const auto result_ = (expression);             \
    (facts).end = tick();                          \
    close_level((facts).depth);                    \
    (facts).error = error_of((spec).ret, result_); \
    result_;                                       \
  })

// --- the body of a hook
// -------------------------------------------------------------------------------------------------

// How every hook begins: its original is known, and whether it is recorded.
template <const Spec& S, class Original>
FATHOM_HOT bool begins(Original& original) {
  resolve(original, S.entry);
  return recording(S.source) || unseen(S.source);
}

// Every step below is compiled away where the Spec does not ask for it. Their order matters: other
// threads open, close and move descriptors meanwhile, and whatever lies between the two readings of
// the clock counts as time of the call.
//
// 1. The original first: also a call that is not recorded needs it.
// 2. A level of depth, before anything of ours that may take long or make records of its own
//    (names of descriptors): a signal handler that comes from here on is inside this call.
// 3. What the descriptor means. Its word says whether there is a position, so it comes before the
//    position; that may find out that there is none, so it comes before the name of what is no
//    file.
// 4. Closing takes the name away, so it is taken first.
// 5. What the call does to descriptors begins before it: once the kernel has closed one, another
//    thread may get the same number, and what that means must not be wiped out.
// 6. The call itself. It is noted once the clock was read, for readers of a process that dies in
//    it; the level ends at once, so that nothing of ours below counts as inside it.
// 7. Whether it worked, which the steps below ask for. errno is the program's still: nothing of
//    ours has written it.
// 8. Arguments and the result. Pieces are read only of a call that worked: the kernel has read
//    them before us then, and a bad pointer was its to refuse.
// 9. Files: the descriptor's, unless it means something else by now; then what paths name, for
//    which the kernel has read the text by now, too.
// 10. Where the bytes moved. It needs the result, and gives the position free that step 3 took.
// 11. The effect last of all that is known of descriptors: it needs the file's name (open) and
//    what was replaced (dup2), and says to others that the change is over.
// 12. One record, with all of it.
template <const Spec& S, class R, class... A>
FATHOM_HOT R traced(R (*&original)(A...), A... a) {
  resolve(original, S.entry);  // 1
  if (!recording(S.source)) return unrecorded<S>(original, a...);
  Facts facts;
  facts.depth = open_level(FATHOM_FRAME);  // 2
  uint64_t word = 0;
  PositionUse position;
  constexpr bool moves =
      S.effect == Effect::kReads || S.effect == Effect::kWrites || S.effect == Effect::kSeeks;
  if constexpr (S.fd >= 0) {  // 3
    facts.fd = argument<S.fd>(a...);
    word = use_begins(facts.fd);
    if constexpr (moves) word = position_begins(position, facts.fd, word);
    if constexpr (moves && S.effect != Effect::kSeeks) word = channel_word(facts.fd, word);
  }
  if constexpr (S.effect == Effect::kCloses) facts.file = static_cast<uint32_t>(word);  // 4
  const uint64_t replaced = effects_begin<S>(a...);                                     // 5
  facts.begin = tick();                                                                 // 6
  note_call(S.kind, facts.begin);
  const R ret = original(a...);
  facts.end = tick();
  close_level(facts.depth);
  facts.error = error_of(S.ret, ret);                               // 7
  if constexpr (has_ret(S)) facts.ret = static_cast<int64_t>(ret);  // 8
  if constexpr (S.size >= 0) facts.size = static_cast<uint64_t>(argument<S.size>(a...));
  if constexpr (S.pieces >= 0) {
    if (facts.error == 0)
      facts.size = size_of_pieces(argument<S.pieces>(a...),
                                  static_cast<size_t>(argument<S.pieces + 1>(a...)));
  }
  if constexpr (S.flags >= 0) facts.flags = static_cast<int64_t>(argument<S.flags>(a...));
  // 9
  if constexpr (S.fd >= 0 && S.effect != Effect::kCloses) facts.file = use_ends(facts.fd, word);
  if constexpr (S.path >= 0) {
    int directory = AT_FDCWD;
    if constexpr (S.dirfd >= 0) directory = argument<S.dirfd>(a...);
    facts.file = path_of_call(directory, argument<S.path>(a...), facts.error);
    if constexpr (S.ret == Ret::kFd) facts.fd = static_cast<int>(ret);
  }
  if constexpr (S.path2 >= 0) {
    int directory = AT_FDCWD;
    if constexpr (S.dirfd2 >= 0) directory = argument<S.dirfd2>(a...);
    facts.path2 = path_of_call(directory, argument<S.path2>(a...), facts.error);
  }
  if constexpr (S.effect == Effect::kSeeks) {  // 10
    position_set(position, facts.fd, facts.error == 0 ? facts.ret : kUnknown);
  } else if constexpr (S.offset >= 0) {
    facts.offset = offset_of_call<S>(word, a...);
  } else if constexpr (moves) {
    facts.offset = position_ends(position, facts.fd, word, facts.error == 0 ? facts.ret : -1,
                                 S.effect == Effect::kWrites);
    facts.elsewhere = position.elsewhere;
  }
  effects_end<S>(facts, replaced, ret, a...);  // 11
  write_call<S>(facts);                        // 12
  return ret;
}

}  // namespace fathom::guest

// SPDX-License-Identifier: MIT
// The slow side of the table of descriptors; descriptors.h has the paths that each call takes. No
// lock anywhere: a call may be interrupted at any step by a handler that opens files. Instead each
// word has a serial number, and whoever asks the kernel looks before and after whether descriptors
// were changed meanwhile. Further blocks of 65536 entries are mapped on demand, since few programs
// get that far.
#include "guest/descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "guest/channels.h"
#include "guest/confinement.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest {

constinit Descriptor* descriptors = nullptr;

constinit char Scratch::rooms[Scratch::kRooms][Scratch::kRoom] = {};
constinit uint32_t Scratch::taken[Scratch::kRooms] = {};

namespace {

constinit uint32_t begun = 0, ended = 0;  // atomic: changes of descriptors
constinit uint16_t serial = 0;            // atomic

// A block of the table: the first is `descriptors`.
struct Block {
  Descriptor* entries;  // atomic; nullptr: none of its descriptors was ever used
  uint32_t end;         // atomic: from here on no entry was ever set
};
constexpr unsigned kBlocks = kMostDescriptors / kDescriptors;
// The first apart, beside the other variables (start.ld): it is all that most programs touch.
constinit Block near_block = {};
constinit Block further_blocks[kBlocks] = {};
constinit uint32_t blocks_end = 1;  // atomic: from here on no block is there

Block& block_at(uint64_t number) { return number == 0 ? near_block : further_blocks[number]; }

// A number of its own for each meaning: who compares words sees that a descriptor was closed and
// opened in between.
uint64_t stamped(uint64_t word) {
  const uint64_t number = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
  return word | (number << 48);
}

// To at least that.
void raise(uint32_t* end, uint32_t to) {
  uint32_t seen = __atomic_load_n(end, __ATOMIC_RELAXED);
  while (to > seen &&
         !__atomic_compare_exchange_n(end, &seen, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

Descriptor* map_block() {
  return static_cast<Descriptor*>(sys_mmap(kDescriptors * sizeof(Descriptor),
                                           PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
}

FATHOM_COLD Descriptor* make_block(Block& block) {
  Descriptor* fresh = map_block();
  Descriptor* found = nullptr;
  if (fresh == nullptr || __atomic_compare_exchange_n(&block.entries, &found, fresh, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return fresh;
  sys_munmap(fresh, kDescriptors * sizeof(Descriptor));
  return found;
}

// The entry that is about to be set.
Descriptor* entry_for(int fd) {
  if (fd < 0 || fd >= kMostDescriptors || descriptors == nullptr) return nullptr;
  const unsigned number = static_cast<unsigned>(fd) / kDescriptors;
  Block& block = block_at(number);
  Descriptor* entries = __atomic_load_n(&block.entries, __ATOMIC_ACQUIRE);
  if (entries == nullptr) entries = make_block(block);
  if (entries == nullptr) return nullptr;
  raise(&block.end, static_cast<uint32_t>(fd) % kDescriptors + 1);
  raise(&blocks_end, number + 1);
  return &entries[static_cast<unsigned>(fd) % kDescriptors];
}

void set_entry(int fd, uint64_t word, int64_t position) {
  Descriptor* entry = entry_for(fd);
  if (entry == nullptr) return;
  // Positions are counted in the first block alone; for others the kernel is asked.
  if (fd >= kDescriptors && word != 0) word |= kWordShared;
  __atomic_store_n(&entry->position, position, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->word, word, __ATOMIC_RELEASE);
}

void mark_shared(Descriptor& entry) {
  const uint64_t word = __atomic_load_n(&entry.word, __ATOMIC_RELAXED);
  if (word == 0 || (word & kWordShared) != 0) return;  // a page that is written costs a fork a copy
  __atomic_fetch_or(&entry.word, kWordShared, __ATOMIC_ACQ_REL);
}

void lose_position(Descriptor& entry) {
  if (__atomic_load_n(&entry.position, __ATOMIC_RELAXED) != kUnknown) {
    __atomic_store_n(&entry.position, kUnknown, __ATOMIC_RELEASE);
  }
}

// Every entry from `first` to `last` that was ever set.
template <class Action>
void for_entries(uint64_t first, uint64_t last, Action action) {
  const uint32_t number_end = __atomic_load_n(&blocks_end, __ATOMIC_ACQUIRE);
  for (uint64_t number = first / kDescriptors; number < number_end; number++) {
    Descriptor* entries = __atomic_load_n(&block_at(number).entries, __ATOMIC_ACQUIRE);
    if (entries == nullptr) continue;
    const uint64_t base = number * kDescriptors;
    const uint64_t end = base + __atomic_load_n(&block_at(number).end, __ATOMIC_RELAXED);
    for (uint64_t fd = first > base ? first : base; fd <= last && fd < end; fd++)
      action(entries[fd - base]);
  }
}

// Changes begun, and changes ended: equal when none is under way.
uint64_t changes_now() {
  const uint32_t done = __atomic_load_n(&ended, __ATOMIC_SEQ_CST);
  return (static_cast<uint64_t>(__atomic_load_n(&begun, __ATOMIC_SEQ_CST)) << 32) | done;
}

}  // namespace

long name_of_descriptor(int fd, char* to, size_t room) {
  char link[40];
  Text text(link, sizeof link);
  text.add("/proc/self/fd/").add_number(static_cast<uint64_t>(fd));
  return sys_readlink(link, to, room);
}

void count_unnamed() {
  if (!is_confined()) count_loss(FATHOM_SOURCE_POSIX, FATHOM_LOSS_UNNAMED);
}

bool prepare_descriptors() {
  near_block.entries = map_block();
  descriptors = near_block.entries;
  return descriptors != nullptr;
}

Descriptor* far_descriptor(int fd) {
  if (fd < kDescriptors || fd >= kMostDescriptors) return nullptr;
  const unsigned number = static_cast<unsigned>(fd) / kDescriptors;
  Descriptor* entries = __atomic_load_n(&further_blocks[number].entries, __ATOMIC_ACQUIRE);
  return entries != nullptr ? &entries[static_cast<unsigned>(fd) % kDescriptors] : nullptr;
}

void change_begins() { __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST); }
void change_ends() { __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST); }
// In a forked child: threads that were in the midst of a change are not there.
void forget_changes() {
  if (ended != begun) ended = begun;
}

void descriptor_opened(int fd, uint32_t file, int flags) {
  const uint64_t append = (flags & O_APPEND) != 0 ? static_cast<uint64_t>(kWordAppend) : 0;
  // A file whose name could not be kept is asked for again.
  set_entry(fd, file != 0 ? stamped(file | append) : 0, kUnknown);
}

void descriptor_closes(int fd) {
  Descriptor* entry = descriptor_of(fd);
  if (entry != nullptr) __atomic_store_n(&entry->word, 0, __ATOMIC_SEQ_CST);
}

void descriptors_close(unsigned first, unsigned last) {
  for_entries(first, last,
              [](Descriptor& entry) { __atomic_store_n(&entry.word, 0, __ATOMIC_SEQ_CST); });
}

void descriptor_duplicated(int from, int to) {
  descriptor_shared(from);
  const uint64_t word = descriptor_word(from);
  if (word != 0) set_entry(to, stamped(word & UINT64_C(0xffffffffffff)), kUnknown);
}

void descriptor_restore(int fd, uint64_t word) {
  Descriptor* entry = descriptor_of(fd);
  uint64_t nothing = 0;
  if (entry != nullptr)
    __atomic_compare_exchange_n(&entry->word, &nothing, word, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

void descriptor_flags(int fd, int flags) {
  Descriptor* entry = descriptor_of(fd);
  if (entry == nullptr || __atomic_load_n(&entry->word, __ATOMIC_RELAXED) == 0) return;
  if ((flags & O_APPEND) != 0) {
    __atomic_fetch_or(&entry->word, kWordAppend, __ATOMIC_ACQ_REL);
  } else {
    __atomic_fetch_and(&entry->word, ~kWordAppend, __ATOMIC_ACQ_REL);
  }
}

void descriptor_without_rights(int fd, uint64_t word) {
  Descriptor* entry = descriptor_of(fd);
  if (entry != nullptr && word != 0)
    __atomic_compare_exchange_n(&entry->word, &word, word | kWordNoRights, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

void position_lost(int fd) {
  Descriptor* entry = descriptor_of(fd);
  if (entry != nullptr) lose_position(*entry);
}

void descriptor_shared(int fd) {
  Descriptor* entry = descriptor_of(fd);
  if (entry != nullptr) mark_shared(*entry);
}

void all_positions_lost() { for_entries(0, UINT64_MAX, lose_position); }
void all_shared() { for_entries(0, UINT64_MAX, mark_shared); }

namespace {

// Not a pipe or a socket, which have no path, nor a number without a descriptor.
bool is_open_file(int fd) {
  struct stat facts;
  return raw_syscall(SYS_fstat, fd, as_long(&facts)) == 0 &&
         (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode));
}

}  // namespace

// Nobody may change descriptors while we ask: else the name could be that of the next file with
// this number.
uint64_t ask_for_file(int fd) {
  if (is_confined()) {
    count_unasked();
    return 0;
  }
  Descriptor* entry = entry_for(fd);
  const uint64_t changes = changes_now();
  const Scratch scratch;
  if (entry == nullptr || scratch.text() == nullptr ||
      static_cast<uint32_t>(changes) != changes >> 32)
    return 0;
  const long length = name_of_descriptor(fd, scratch.text(), Scratch::kRoom);
  if (length <= 0 || length >= static_cast<long>(Scratch::kRoom)) {
    if (is_open_file(fd)) count_unnamed();
    return 0;
  }
  const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  uint64_t word = kWordNoFile;
  scratch.text()[length] = 0;
  if (scratch.text()[0] == '/' && !is_no_file(scratch.text())) {
    word = kWordShared | intern_path(0, scratch.text(), static_cast<size_t>(length));
    if (flags >= 0 && (flags & O_APPEND) != 0) word |= kWordAppend;
  }
  word = stamped(word);
  uint64_t nothing = 0;
  if (changes_now() != changes) return 0;
  __atomic_store_n(&entry->position, kUnknown, __ATOMIC_RELAXED);
  if (!__atomic_compare_exchange_n(&entry->word, &nothing, word, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_RELAXED))
    return 0;
  // Set, and somebody changed descriptors since we asked: it is taken back.
  if (changes_now() == changes) return word;
  __atomic_compare_exchange_n(&entry->word, &word, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  return 0;
}

// A first user asks; two threads at once ask twice. What could not be named is not asked again.
uint64_t ask_for_channel(int fd, uint64_t word) {
  Descriptor* entry = descriptor_of(fd);
  if (entry == nullptr || word == 0 || is_confined()) return word;
  const uint64_t changes = changes_now();
  const Scratch scratch;
  if (scratch.text() == nullptr || static_cast<uint32_t>(changes) != changes >> 32) return word;
  const size_t length = describe_channel(fd, scratch.text(), Scratch::kRoom);
  uint64_t asked = (word | kWordAsked | kWordNoSeek) & ~(kWordTook | kWordGave);
  if (length > 0)
    asked = (asked & ~UINT64_C(0xffffffff)) | kWordNoFile | intern_channel(scratch.text(), length);
  if (changes_now() != changes) return word;
  const bool same = __atomic_compare_exchange_n(&entry->word, &word, asked, false, __ATOMIC_SEQ_CST,
                                                __ATOMIC_RELAXED);
  return same ? asked : 0;
}

// A word that has changed since is that of another descriptor: the next call tells again.
void tell_mover(int fd, uint64_t word, bool writes) {
  Descriptor* entry = descriptor_of(fd);
  if (entry == nullptr || is_confined()) return;
  const uint64_t changes = changes_now();
  const Scratch scratch;
  if (scratch.text() == nullptr || static_cast<uint32_t>(changes) != changes >> 32) return;
  const size_t length = describe_mover(fd, writes, scratch.text(), Scratch::kRoom);
  if (changes_now() != changes) return;
  if (length > 0) intern_channel(scratch.text(), length);
  __atomic_compare_exchange_n(&entry->word, &word, word | (writes ? kWordGave : kWordTook), false,
                              __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

namespace {

void settle_position(int fd, uint64_t word) {
  if ((word & (kWordShared | kWordNoFile | kWordNoSeek)) != 0) return;
  int64_t unknown = kUnknown;
  const int64_t position = sys_tell(fd);
  if (position >= 0)
    __atomic_compare_exchange_n(&descriptors[fd].position, &unknown, position, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

}  // namespace

void settle_descriptors() {
  constexpr int kFirstOnes = 64;
  for (int fd = 0; fd < kFirstOnes && descriptors != nullptr; fd++) {
    const uint64_t word = use_begins(fd);
    if (word != 0) settle_position(fd, channel_word(fd, word));
  }
}

namespace {

// There is none, so that nobody needs to ask again; the word as it is then.
uint64_t without_position(int fd, uint64_t word) {
  Descriptor* entry = descriptor_of(fd);
  uint64_t seen = word;
  const bool same =
      entry != nullptr && __atomic_compare_exchange_n(&entry->word, &seen, word | kWordNoSeek,
                                                      false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return same ? word | kWordNoSeek : word;
}

// Of a descriptor that is shared: where the last call by it left the file.
int64_t kept_position(int fd) {
  const Descriptor* entry = descriptor_of(fd);
  return entry != nullptr ? __atomic_load_n(&entry->position, __ATOMIC_ACQUIRE) : kUnknown;
}

void keep_position(int fd, int64_t position) {
  Descriptor* entry = descriptor_of(fd);
  if (entry != nullptr)
    __atomic_store_n(&entry->position, position >= 0 ? position : kUnknown, __ATOMIC_RELEASE);
}

// Where threads take turns with a descriptor, what the others moved is no jump of this one.
void note_thread(PositionUse& use, int fd, uint64_t word) {
  constexpr int kShift = 40;
  constexpr uint32_t kThreads = 255;
  const uint64_t own = tls.thread != nullptr ? tls.thread->ordinal % kThreads + 1 : 0;
  const uint64_t last = (word & kWordThread) >> kShift;
  if (FATHOM_LIKELY(last == own)) return;
  use.elsewhere = use.elsewhere || last != 0;
  Descriptor* entry = descriptor_of(fd);
  if (entry != nullptr)
    __atomic_compare_exchange_n(&entry->word, &word, (word & ~kWordThread) | own << kShift, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

}  // namespace

// Here the position is not simply counted: it is unknown, taken by another thread, or shared.
uint64_t position_begins_slow(PositionUse& use, int fd, uint64_t word) {
  if (word == 0 || (word & (kWordNoFile | kWordNoSeek)) != 0) return word;
  if (use.counted && use.before <= kBusy) {
    // Another thread is between begin and end, or left by longjmp: from now on the kernel is asked.
    mark_shared(descriptors[fd]);
    __atomic_store_n(&descriptors[fd].position, kContested, __ATOMIC_RELEASE);
    use.counted = false;
  }
  if (is_confined()) {
    if (use.counted) __atomic_store_n(&descriptors[fd].position, kUnknown, __ATOMIC_RELEASE);
    use = {};
    count_unasked();
    return word;
  }
  const int64_t left = use.counted ? kUnknown : kept_position(fd);
  use.before = sys_tell(fd);
  use.asked = true;
  use.elsewhere = use.before != left;
  if (use.before >= 0) return word;
  use.before = kUnknown;
  if (use.counted) {
    __atomic_store_n(&descriptors[fd].position, kUnknown, __ATOMIC_RELEASE);
    use.counted = false;
  }
  return without_position(fd, word);
}

int64_t position_ends(PositionUse& use, int fd, uint64_t word, int64_t moved, bool write) {
  if (!use.counted && use.before < 0) {
    if (moved > 0) channel_moved(fd, word, write);
    return kUnknown;
  }
  note_thread(use, fd, word);
  if (use.counted) {
    int64_t next = moved > 0 ? use.before + moved : use.before;
    int64_t offset = use.before;
    if (write && (word & kWordAppend) != 0 && moved > 0) {
      next = is_confined() ? kUnknown : sys_tell(fd);
      offset = next >= moved ? next - moved : kUnknown;
    }
    int64_t busy = kBusy;
    const bool alone = __atomic_compare_exchange_n(&descriptors[fd].position, &busy, next, false,
                                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (!alone) __atomic_store_n(&descriptors[fd].position, kUnknown, __ATOMIC_RELEASE);
    // Whoever shares the position since this call began said so before it moved it.
    return alone && (descriptor_word(fd) & kWordShared) == 0 ? offset : kUnknown;
  }
  if (write && (word & kWordAppend) != 0)
    return kUnknown;  // shared and appending: where it landed is anybody's guess
  const int64_t after = sys_tell(fd);
  keep_position(fd, after);
  return after == use.before + (moved > 0 ? moved : 0) ? use.before : kUnknown;
}

void position_set(PositionUse& use, int fd, int64_t position) {
  if (!use.counted && !use.asked) return;
  note_thread(use, fd, descriptor_word(fd));
  keep_position(fd, position);
}

}  // namespace fathom::guest

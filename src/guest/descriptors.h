// SPDX-License-Identifier: MIT
// Which file a descriptor means, and where it stands in it.
//
// One process-wide table. An entry's word is set after a descriptor was made and cleared before it
// goes, so a call names its file only if the word was the same before and after it: then no other
// file can have been meant. A cleared word means "ask": the kernel
// tells at the next use (/proc/self/fd), which covers inherited descriptors and makers that no hook
// saw.
//
// Positions are the process's own business while one thread at a time uses a descriptor that nobody
// else shares; then they are counted. Everywhere else (inherited, duplicated, shared by a fork,
// found in use by two threads at once) the kernel is asked before and after the call, and the
// offset is known only if the two differ by what the call moved. NULL rather than wrong. What it
// answered last is kept: a position that is another by then was moved by somebody else.
#pragma once

#include <stdint.h>

#include "guest/runtime.h"

namespace fathom::guest {

// Those below are in a table that is always there; for those above one is mapped when first needed,
// as many again at a time.
constexpr int kDescriptors = 1 << 16;
constexpr int kMostDescriptors = kDescriptors * 1024;

// Flags of a word; the file id is its low half, a serial number its top 16 bits.
enum : uint64_t {
  kWordNoFile = UINT64_C(1) << 32,  // pipe, socket, …: no position, and the id is of a channel
  kWordShared = UINT64_C(1) << 33,  // somebody else may move the position
  kWordAppend = UINT64_C(1) << 34,  // O_APPEND
  kWordNoSeek = UINT64_C(1) << 35,
  kWordNoRights = UINT64_C(1) << 36,   // a socket that carries no descriptors
  kWordAsked = UINT64_C(1) << 37,      // what it leads to was asked for (guest/channels.h)
  kWordTook = UINT64_C(1) << 38,       // of a channel: whoever defined it told that bytes came
  kWordGave = UINT64_C(1) << 39,       // the same of bytes that went
  kWordThread = UINT64_C(0xff) << 40,  // who moved the position last, roughly; 0: nobody yet
};
// What may change in a word while the descriptor means the same file.
constexpr uint64_t kWordTraits =
    kWordShared | kWordAppend | kWordNoSeek | kWordNoRights | kWordTook | kWordGave | kWordThread;

// What one descriptor means. Any thread may use it at any time: both words are atomic, and change
// one by one.
struct Descriptor {
  uint64_t word;     // atomic; 0: unknown
  int64_t position;  // atomic; kUnknown, kBusy, kContested or where the file stands
};
constexpr int64_t kUnknown = -1, kBusy = -2, kContested = -3;

extern Descriptor* descriptors;

bool prepare_descriptors();
// A call's file stays without a name, and nobody refuses to ask (confinement.h counts that).
FATHOM_COLD void count_unnamed();
// As the kernel names it: the length, or a negative error.
long name_of_descriptor(int fd, char* to, size_t room);

// nullptr where nothing is known of the descriptor. One above kDescriptors counts as shared always,
// so that the hot paths need not know of it.
FATHOM_COLD Descriptor* far_descriptor(int fd);
FATHOM_HOT Descriptor* descriptor_of(int fd) {
  return FATHOM_LIKELY(static_cast<unsigned>(fd) < static_cast<unsigned>(kDescriptors) &&
                       descriptors != nullptr)
             ? &descriptors[fd]
             : far_descriptor(fd);
}
FATHOM_HOT uint64_t descriptor_word(int fd) {
  const Descriptor* entry = descriptor_of(fd);
  return entry != nullptr ? __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE) : 0;
}

// --- effects
// ----------------------------------------------------------------------------------------------------------

// A change of descriptors is under way between these two; lookups that ask the kernel meanwhile
// give no name.
void change_begins();
void change_ends();

void descriptor_opened(int fd, uint32_t file, int flags);
void descriptor_closes(int fd);
void descriptors_close(unsigned first, unsigned last);
// dup: both now share a position. `before` is the word that the target had (dup2), put back when
// the call failed.
void descriptor_duplicated(int from, int to);
void descriptor_restore(int fd, uint64_t word);
void descriptor_flags(int fd, int flags);               // fcntl(F_SETFL)
void descriptor_without_rights(int fd, uint64_t word);  // unless it is another by now
void position_lost(int fd);      // stdio, or anything else that moved it unseen
void all_positions_lost();       // fflush(NULL)
void all_shared();               // before a fork
void descriptor_shared(int fd);  // somebody else gets it, too
void forget_changes();           // in a forked child
void settle_descriptors();       // asks what is not known yet of the first ones, while it can be

// --- lookups
// ----------------------------------------------------------------------------------------------------------

// Before and after a call on a descriptor: the word, asked for where it was unknown, and the file
// if it still holds.
FATHOM_COLD uint64_t ask_for_file(int fd);
FATHOM_HOT uint64_t use_begins(int fd) {
  const uint64_t word = descriptor_word(fd);
  return FATHOM_LIKELY(word != 0) || fd < 0 ? word : ask_for_file(fd);
}
FATHOM_HOT uint32_t use_ends(int fd, uint64_t before) {
  const uint64_t changed = (descriptor_word(fd) ^ before) & ~kWordTraits;
  return FATHOM_LIKELY(changed == 0) ? static_cast<uint32_t>(before) : 0;
}

// The word of a descriptor that bytes move through: what is no file gets its name here. Ids below
// the process's own are its parent's, who is another user of the channel.
FATHOM_COLD uint64_t ask_for_channel(int fd, uint64_t word);
FATHOM_HOT uint64_t channel_word(int fd, uint64_t word) {
  if (FATHOM_LIKELY((word & (kWordNoFile | kWordNoSeek)) == 0)) return word;
  const bool known = (word & kWordAsked) != 0 &&
                     ((word & kWordNoFile) == 0 || static_cast<uint32_t>(word) >= guest.first_id);
  return known ? word : ask_for_channel(fd, word);
}

// After a call that moved bytes through a channel: says so once, if it is a pipe. Who uses an end
// and moves nothing (a flush, an end of file) is none of those whom the other end talks to.
FATHOM_COLD void tell_mover(int fd, uint64_t word, bool writes);
FATHOM_HOT void channel_moved(int fd, uint64_t word, bool writes) {
  if (FATHOM_LIKELY((word & kWordNoFile) == 0)) return;
  if ((word & (writes ? kWordGave : kWordTook)) == 0) tell_mover(fd, word, writes);
}

// The position of a call that moves it.
struct PositionUse {
  int64_t before = kUnknown;
  bool counted = false;
  bool asked = false;
  bool elsewhere = false;  // not where the last call by this descriptor left it, or nobody knows
};
uint64_t position_begins_slow(PositionUse& use, int fd, uint64_t word);
// The word, which is another one where it turns out that there is no position.
FATHOM_HOT uint64_t position_begins(PositionUse& use, int fd, uint64_t word) {
  if (FATHOM_LIKELY((word & (kWordShared | kWordNoFile | kWordNoSeek)) == 0 && word != 0)) {
    use.before = __atomic_exchange_n(&descriptors[fd].position, kBusy, __ATOMIC_ACQ_REL);
    use.counted = true;
    if (FATHOM_LIKELY(use.before >= 0)) return word;
  }
  return position_begins_slow(use, fd, word);
}
// The offset of the bytes that moved, or kUnknown. moved < 0: the call failed.
int64_t position_ends(PositionUse& use, int fd, uint64_t word, int64_t moved, bool write);
// The same of a call that set it: where to, or kUnknown.
void position_set(PositionUse& use, int fd, int64_t position);

}  // namespace fathom::guest

// SPDX-License-Identifier: MIT
// Descriptors that are handed to other processes in messages (SCM_RIGHTS): from then on somebody
// else may move their positions, so they count as shared before the message goes. Makes no event.
// Those that come by a message need no word: an entry that is clear is asked for at its first use.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guest/binding.h"
#include "guest/call.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"

namespace fathom::guest {
namespace rights {

#define FATHOM_EXPORT __attribute__((visibility("default")))
extern "C" {
FATHOM_EXPORT ssize_t hook_sendmsg(int socket, const msghdr* message, int flags) __asm__("sendmsg");
FATHOM_EXPORT int hook_sendmmsg(int socket, mmsghdr* messages, unsigned count,
                                int flags) __asm__("sendmmsg");
}

namespace {

ssize_t (*original_sendmsg)(int, const msghdr*, int) = nullptr;
int (*original_sendmmsg)(int, mmsghdr*, unsigned, int) = nullptr;

// Sockets of other families carry no descriptors; what kind this one is, is asked once.
bool carries_rights(int socket) {
  const uint64_t word = use_begins(socket);
  if ((word & kWordNoRights) != 0) return false;
  if (is_confined()) return true;  // it may, and cannot be asked
  int domain = 0;
  unsigned size = sizeof domain;
  if (raw_syscall(SYS_getsockopt, socket, SOL_SOCKET, SO_DOMAIN, as_long(&domain),
                  as_long(&size)) != 0)
    return false;
  if (domain != AF_UNIX) descriptor_without_rights(socket, word);
  return domain == AF_UNIX;
}

// `control` is a copy of a message's control part, or what of it is there.
void share_all_in(const char* control, size_t size) {
  for (size_t at = 0; at + sizeof(cmsghdr) <= size;) {
    cmsghdr head;
    memcpy(&head, control + at, sizeof head);
    if (head.cmsg_len < sizeof head) return;
    const size_t end = head.cmsg_len < size - at ? at + head.cmsg_len : size;
    if (head.cmsg_level == SOL_SOCKET && head.cmsg_type == SCM_RIGHTS) {
      for (size_t each = at + CMSG_LEN(0); each + sizeof(int) <= end; each += sizeof(int)) {
        int fd;
        memcpy(&fd, control + each, sizeof fd);
        descriptor_shared(fd);
      }
    }
    at += CMSG_ALIGN(head.cmsg_len);
  }
}

// The message may lie anywhere, or nowhere: a bad pointer is the kernel's to refuse. False where
// the kernel copies nothing for us (emulators, strict sandboxes).
bool share(const msghdr* where) {
  msghdr message;
  const long got = sys_copy_own(&message, where, sizeof message);
  if (got != sizeof message) return got == -EFAULT;
  if (message.msg_control == nullptr || message.msg_controllen == 0) return true;
  const Scratch scratch;
  if (scratch.text() == nullptr || message.msg_controllen > Scratch::kRoom) {
    all_shared();
    return true;
  }
  const long copied = sys_copy_own(scratch.text(), message.msg_control, message.msg_controllen);
  if (copied > 0) share_all_in(scratch.text(), static_cast<size_t>(copied));
  return true;
}

// The kernel has read the message, so it is there.
void share_sent(const msghdr& message) {
  if (message.msg_control != nullptr)
    share_all_in(static_cast<const char*>(message.msg_control), message.msg_controllen);
}

bool here() { return guest.attached && in_program(); }

}  // namespace

extern "C" {

ssize_t hook_sendmsg(int socket, const msghdr* message, int flags) {
  resolve(original_sendmsg, "sendmsg");
  const bool unseen = here() && carries_rights(socket) && !share(message);
  const ssize_t ret = original_sendmsg(socket, message, flags);
  if (FATHOM_UNLIKELY(unseen) && ret >= 0) share_sent(*message);
  return ret;
}

int hook_sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  resolve(original_sendmmsg, "sendmmsg");
  constexpr unsigned kMost = 1024;  // as many go at once
  bool unseen = false;
  if (here() && carries_rights(socket)) {
    for (unsigned i = 0; i < count && i < kMost && !unseen; i++)
      unseen = !share(&messages[i].msg_hdr);
  }
  const int sent = original_sendmmsg(socket, messages, count, flags);
  if (FATHOM_UNLIKELY(unseen)) {
    for (int i = 0; i < sent; i++) share_sent(messages[i].msg_hdr);
  }
  return sent;
}

}  // extern "C"

namespace {

const Binding kRows[] = {
    {"sendmsg", reinterpret_cast<void*>(&hook_sendmsg),
     reinterpret_cast<void**>(&original_sendmsg)},
    {"sendmmsg", reinterpret_cast<void*>(&hook_sendmmsg),
     reinterpret_cast<void**>(&original_sendmmsg)},
};

}  // namespace
}  // namespace rights

// A raw system call that sends a message is about to be made.
void rights_leave(int socket, const void* message) {
  if (rights::carries_rights(socket) && !rights::share(static_cast<const msghdr*>(message)))
    all_shared();
}

extern const Bindings kRightsBindings;
const Bindings kRightsBindings{rights::kRows, sizeof rights::kRows / sizeof *rights::kRows};

}  // namespace fathom::guest

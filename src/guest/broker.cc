// SPDX-License-Identifier: MIT
// The in-process end of the broker (session's broker.cc is the other). It is asked only after
// open() was refused, by raw system calls, with a limit of one second in all.
#include "guest/broker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "guest/attach.h"
#include "guest/runtime.h"
#include "guest/schema.h"
#include "guest/syscalls.h"
#include "wire/broker.h"

namespace fathom::guest {
namespace {

constexpr int64_t kPatienceNs = 1'000'000'000;
constexpr size_t kWord = FATHOM_BROKER_WORD;

struct Words {
  const char *name, *ask, *answer;  // nullptr: there is no broker
  const char* path;                 // of the second socket; nullptr: there is none
};

Words broker_words() {
  constexpr size_t kLength = 3 * kWord + 2;
  const char* text = setting(FATHOM_BROKER_VARIABLE);
  if (text == nullptr || strnlen(text, kLength) != kLength || text[kWord] != '-' ||
      text[2 * kWord + 1] != '-')
    return {};
  const char* const rest = text + kLength;
  const bool has_path = rest[0] == '-' && rest[1] == '/';
  if (*rest != 0 && !has_path) return {};
  return {text, text + kWord + 1, text + 2 * (kWord + 1), has_path ? rest + 1 : nullptr};
}

int connect_to(const sockaddr_un& address, long size) {
  const auto fd = static_cast<int>(
      raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd < 0) return -1;
  if (raw_syscall(SYS_connect, fd, as_long(&address), size) == 0) return fd;
  sys_close(fd);
  return -1;
}

// The abstract name reaches other users and other roots, the path other network namespaces.
int open_line(const Words& words) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  constexpr size_t kPrefix = sizeof FATHOM_BROKER_PREFIX - 1;
  memcpy(address.sun_path + 1, FATHOM_BROKER_PREFIX, kPrefix);
  memcpy(address.sun_path + 1 + kPrefix, words.name, kWord);
  const int line =
      connect_to(address, static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + kPrefix + kWord));
  if (line >= 0 || words.path == nullptr) return line;
  const size_t length = strlen(words.path);
  if (length >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, words.path, length + 1);
  return connect_to(address, static_cast<long>(sizeof address));
}

bool wait_for(int fd) {
  const int64_t end = static_cast<int64_t>(clock_ns(CLOCK_MONOTONIC)) + kPatienceNs;
  for (;;) {
    const int64_t left = end - static_cast<int64_t>(clock_ns(CLOCK_MONOTONIC));
    if (left <= 0) return false;
    pollfd waiting = {fd, POLLIN, 0};
    timespec time = {left / 1'000'000'000, left % 1'000'000'000};
    const long ready = raw_syscall(SYS_ppoll, as_long(&waiting), 1, as_long(&time), 0, 8);
    if (ready > 0) return true;
    if (ready != -EINTR) return false;
  }
}

bool send_request(int line, const fathom_broker_request& request, const char* text, size_t length) {
  iovec pieces[2] = {{const_cast<fathom_broker_request*>(&request), sizeof request},
                     {const_cast<char*>(text), length}};
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  return raw_syscall(SYS_sendmsg, line, as_long(&message), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

// The descriptor that came with the message; -1: none.
int descriptor_in(const msghdr& message, const char* control) {
  cmsghdr head;
  if (message.msg_controllen < CMSG_LEN(sizeof(int))) return -1;
  memcpy(&head, control, sizeof head);
  if (head.cmsg_level != SOL_SOCKET || head.cmsg_type != SCM_RIGHTS ||
      head.cmsg_len != CMSG_LEN(sizeof(int)))
    return -1;
  int fd;
  memcpy(&fd, control + CMSG_LEN(0), sizeof fd);
  return fd;
}

// A name of this kind may be somebody else's once the recorder is gone: nothing is taken from
// whoever does not know the answer.
bool is_granted(const fathom_broker_reply& reply, const Words& words) {
  return reply.magic == FATHOM_BROKER_MAGIC && reply.version == FATHOM_BROKER_VERSION &&
         reply.granted == 1 && memcmp(reply.answer, words.answer, kWord) == 0;
}

bool receive(int line, const Words& words, fathom_broker_reply& reply, int* fd) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec piece = {&reply, sizeof reply};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (!wait_for(line)) return false;
  const long got =
      raw_syscall(SYS_recvmsg, line, as_long(&message), MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return false;
  *fd = descriptor_in(message, control);
  if (got == static_cast<long>(sizeof reply) && is_granted(reply, words)) return true;
  if (*fd >= 0) sys_close(*fd);
  *fd = -1;
  return false;
}

fathom_broker_request request_for(fathom_broker_verb verb, const Words& words) {
  fathom_broker_request request = {};
  request.magic = FATHOM_BROKER_MAGIC;
  request.version = FATHOM_BROKER_VERSION;
  request.verb = static_cast<uint16_t>(verb);
  memcpy(request.ask, words.ask, kWord);
  request.schema_hash = schema_hash();
  request.process_key = guest.process_key;
  return request;
}

void send_schema(int line, const Words& words) {
  fathom_broker_reply reply = {};
  int none = -1;
  if (send_request(line, request_for(FATHOM_BROKER_SCHEMA, words), schema_text(), schema_length()))
    receive(line, words, reply, &none);
  if (none >= 0) sys_close(none);
}

}  // namespace

bool is_out_of_reach(long error) {
  return error == -EACCES || error == -EPERM || error == -ENOENT || error == -EROFS;
}

bool has_broker() { return broker_words().name != nullptr; }

int brokered_run_header() {
  const Words words = broker_words();
  const int line = words.name != nullptr ? open_line(words) : -1;
  if (line < 0) return -1;
  fathom_broker_reply reply = {};
  int fd = -1;
  if (send_request(line, request_for(FATHOM_BROKER_JOIN, words), nullptr, 0) &&
      receive(line, words, reply, &fd) && reply.wants_schema != 0)
    send_schema(line, words);
  sys_close(line);
  return fd;
}

int brokered_pool(uint32_t segments, uint32_t serial) {
  const Words words = broker_words();
  const int line = words.name != nullptr ? open_line(words) : -1;
  if (line < 0) return -1;
  fathom_broker_request request = request_for(FATHOM_BROKER_POOL, words);
  request.segments = segments;
  request.serial = serial;
  fathom_broker_reply reply = {};
  int fd = -1;
  if (send_request(line, request, nullptr, 0)) receive(line, words, reply, &fd);
  sys_close(line);
  return fd;
}

// A thread has no credentials of its own. It signs a file of the recorder's as its owner, whom the
// kernel then names to each reader by the number in the reader's own namespace.
Numbers brokered_numbers(int tid) {
  const Words words = broker_words();
  const int line = words.name != nullptr ? open_line(words) : -1;
  if (line < 0) return {};
  fathom_broker_request request = request_for(FATHOM_BROKER_WHO, words);
  request.segments = tid != 0 ? 1 : 0;
  fathom_broker_reply reply = {};
  int fd = -1;
  bool told = send_request(line, request, nullptr, 0) && receive(line, words, reply, &fd);
  if (fd >= 0) {
    const f_owner_ex owner = {F_OWNER_TID, tid};
    const bool is_signed = raw_syscall(SYS_fcntl, fd, F_SETOWN_EX, as_long(&owner)) == 0;
    sys_close(fd);
    fd = -1;
    told = is_signed && send_request(line, request, nullptr, 0) && receive(line, words, reply, &fd);
    if (fd >= 0) sys_close(fd);
  }
  sys_close(line);
  return told ? Numbers{reply.pid, tid != 0 ? reply.tid : reply.pid} : Numbers{};
}

}  // namespace fathom::guest

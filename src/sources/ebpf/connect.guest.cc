// SPDX-License-Identifier: MIT
// How a program turns to the daemon `fathom watch`: by itself when the library is preloaded and
// nothing else is said, or when it calls fathom_connect(). What is recorded then is the kernel's
// affair; nothing of ours stays in the program, no descriptor either.
//
// Where there is no daemon this is one system call, and nothing happens. A daemon that hangs is
// known by its socket's old time; one that hangs since a moment ago is waited for a second.
#include <errno.h>
#include <fathom/fathom.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/watch.h"

#define FATHOM_EXPORT extern "C" __attribute__((visibility("default")))

namespace fathom::guest {
namespace {

constexpr long kPatienceNs = 1'000'000'000;

bool is_trusted(uint32_t user) {
  return user == 0 || user == static_cast<uint32_t>(raw_syscall(SYS_geteuid));
}

// A socket whose owner we trust and whose daemon has been at work lately.
bool is_served(const char* path) {
  struct stat facts = {};
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, as_long(path), as_long(&facts), 0) != 0) return false;
  timespec now = {};
  raw_syscall(SYS_clock_gettime, CLOCK_REALTIME, as_long(&now));
  return S_ISSOCK(facts.st_mode) && is_trusted(facts.st_uid) &&
         now.tv_sec - facts.st_mtim.tv_sec <= FATHOM_WATCH_PULSE_S;
}

// Never waits: a daemon whose queue is full is none.
int open_socket(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return -1;
  Text(address.sun_path, sizeof address.sun_path).add(path);
  const auto fd = static_cast<int>(
      raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd < 0) return -1;
  ucred peer = {};
  socklen_t size = sizeof peer;
  const bool joined = raw_syscall(SYS_connect, fd, as_long(&address), sizeof address) == 0 &&
                      raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, as_long(&peer),
                                  as_long(&size)) == 0 &&
                      is_trusted(peer.uid);
  if (joined) return fd;
  sys_close(fd);
  return -1;
}

bool wait_for_reply(int fd) {
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

bool is_done(int fd) {
  // (What is behind the head of a packet is dropped by the kernel.)
  fathom_watch_reply reply = {};
  const long got = raw_syscall(SYS_recvfrom, fd, as_long(&reply), sizeof reply, MSG_DONTWAIT, 0, 0);
  return got == static_cast<long>(sizeof reply) && reply.magic == FATHOM_WATCH_MAGIC &&
         reply.version == FATHOM_WATCH_VERSION && reply.answer == FATHOM_WATCH_DONE;
}

bool ask_at(const char* path, fathom_watch_verb verb) {
  if (!is_served(path)) return false;
  const int fd = open_socket(path);
  if (fd < 0) return false;
  const fathom_watch_request request = {FATHOM_WATCH_MAGIC, FATHOM_WATCH_VERSION,
                                        static_cast<uint16_t>(verb), 0, 0};
  const long sent = raw_syscall(SYS_sendto, fd, as_long(&request), sizeof request,
                                MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
  const bool done = sent == static_cast<long>(sizeof request) && wait_for_reply(fd) && is_done(fd);
  sys_close(fd);
  return done;
}

bool ask(fathom_watch_verb verb) {
  if (is_trusted_program()) return false;
  if (const char* named = setting(FATHOM_WATCH_VARIABLE); named != nullptr)
    return *named != 0 && ask_at(named, verb);
  if (ask_at(FATHOM_WATCH_SOCKET, verb)) return true;
  const char* own = setting("XDG_RUNTIME_DIR");
  if (own == nullptr || *own != '/') return false;
  char path[sizeof(sockaddr_un::sun_path)];
  Text(path, sizeof path).add(own).add(FATHOM_WATCH_OWN_SOCKET);
  return ask_at(path, verb);
}

}  // namespace

void turn_to_daemon() {
  const char* out = setting("FATHOM_OUT");
  if (!guest.late && (out == nullptr || *out == 0)) ask(FATHOM_WATCH_CONNECT);
}

}  // namespace fathom::guest

using namespace fathom::guest;

FATHOM_EXPORT int fathom_connect(void) { return ask(FATHOM_WATCH_CONNECT) ? 0 : -1; }
FATHOM_EXPORT int fathom_disconnect(void) { return ask(FATHOM_WATCH_DISCONNECT) ? 0 : -1; }

namespace fathom::guest {
namespace {

void* nothing_original = nullptr;
const Binding kRows[] = {
    {"fathom_connect", reinterpret_cast<void*>(&fathom_connect), &nothing_original},
    {"fathom_disconnect", reinterpret_cast<void*>(&fathom_disconnect), &nothing_original},
};

}  // namespace

extern const Bindings kConnectBindings;
const Bindings kConnectBindings{kRows, sizeof kRows / sizeof *kRows};

}  // namespace fathom::guest

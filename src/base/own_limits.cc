// SPDX-License-Identifier: MIT
// The limit of the stack may be a hard one, so it is not raised: memory that is mapped does not
// count, and the first thread goes on there. It stays the same thread, for signals and for children
// that end with it.
#include "base/own_limits.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

namespace fathom {
namespace {

constexpr std::size_t kRoom = std::size_t{8} << 20U;   // what systems give by default
constexpr std::size_t kLeast = std::size_t{1} << 20U;  // less is a limit that somebody meant

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): one of each per process
struct sigaction size_before {};
bool size_ignored = false;
const std::function<int()>* entered = nullptr;  // makecontext hands on no pointer
int result = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void enter() { result = (*entered)(); }

void give_threads_room() {
  pthread_attr_t attributes;
  if (::pthread_getattr_default_np(&attributes) != 0) return;
  ::pthread_attr_setstacksize(&attributes, kRoom);
  (void)::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

// With a page below it that ends us rather than letting us write elsewhere; nullptr: no memory.
void* map_stack() {
  void* const memory = ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  (void)::mprotect(memory, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
  return memory;
}

}  // namespace

void ignore_size_signal() {
  struct sigaction none {};
  none.sa_handler = SIG_IGN;
  size_ignored = ::sigaction(SIGXFSZ, &none, &size_before) == 0;
}

void restore_size_signal() {
  if (size_ignored) ::sigaction(SIGXFSZ, &size_before, nullptr);
}

int on_roomy_stack(const std::function<int()>& body) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return body();
  give_threads_room();
  void* const memory = map_stack();
  ucontext_t before{};
  ucontext_t there{};
  if (memory == nullptr || ::getcontext(&there) != 0) return body();
  there.uc_stack.ss_sp = memory;
  there.uc_stack.ss_size = kRoom;
  there.uc_link = &before;
  entered = &body;
  ::makecontext(&there, enter, 0);
  if (::swapcontext(&before, &there) != 0) return body();
  return result;
}

}  // namespace fathom

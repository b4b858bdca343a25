// SPDX-License-Identifier: MIT
// Waits in ppoll() for time, an eventfd and a pidfd at once. end() only writes to the eventfd, so
// any thread may call it.
#include "sources/resources/pause.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace fathom::sources {

Pause::Pause() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Pause::rest(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec time{.tv_sec = std::max<std::int64_t>(ns, 0) / kSecond,
                      .tv_nsec = std::max<std::int64_t>(ns, 0) % kSecond};
  std::array<pollfd, 2> waiting = {pollfd{wake_.get(), POLLIN, 0},
                                   pollfd{process_.get(), POLLIN, 0}};
  ::ppoll(waiting.data(), waiting.size(), &time, nullptr);
  std::uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof count);
  if (waiting[1].revents != 0) process_.reset();
}

void Pause::watch(pid_t process) {
  process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

void Pause::end() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace fathom::sources

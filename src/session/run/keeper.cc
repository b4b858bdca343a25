// SPDX-License-Identifier: MIT
// Forked after the program has ended, with the pump stopped: threads do not survive fork. It leaves
// the caller's session, directory and streams.
#include "session/run/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"

namespace fathom::session {
namespace {

constexpr int kTickMs = 100;

// A shell that waits for the program, or reads its output to the end, must not wait for us.
void leave_caller() {
  ::setsid();
  (void)!::chdir("/");
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream < 3 && nothing >= 0; ++stream) ::dup2(nothing, stream);
}

// Sources may have memory that is the parent's alone until they have gone on in the child.
void wait_for(const Fd& ready) {
  constexpr int kPatienceMs = 5'000;
  pollfd waiting{ready.get(), POLLIN, 0};
  (void)::poll(&waiting, 1, kPatienceMs);
}

[[noreturn]] void keep(const sources::SourceContext& context, SignalQueue& signals,
                       HostSources& hosts, Pump& pump, Fd ready) {
  leave_caller();
  hosts.resume(context, pump.packer().manifest());
  ready.reset();
  pump.start(hosts.pointers());
  while (hosts.outlived() && !signals.told_to_end(kTickMs)) {
  }
  hosts.stop();
  pump.stop();
  hosts.tell(pump.packer().manifest());
  const Result<trace::FinishResult> finished = pump.packer().finish();
  // Without the destructors of what is the parent's.
  ::_exit(finished ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

Status leave_keeper(const sources::SourceContext& context, SignalQueue& signals, HostSources& hosts,
                    Pump& pump) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return os_error(errno, "make a pipe");
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t keeper = ::fork();
  if (keeper < 0) return os_error(errno, "start a process that goes on recording");
  if (keeper == 0) keep(context, signals, hosts, pump, std::move(to));
  to.reset();
  wait_for(from);  // until it is closed
  return {};
}

}  // namespace fathom::session

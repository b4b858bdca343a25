// SPDX-License-Identifier: MIT
// Forked after the program has ended, with the pump stopped: threads do not survive fork. It leaves
// the caller's session, directory and streams.
#include "session/run/keeper.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/os_error.h"

namespace fathom::session {
namespace {

constexpr int kTickMs = 100;

void leave_caller() {
  ::setsid();
  (void)!::chdir("/");
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream < 3 && nothing >= 0; ++stream) ::dup2(nothing, stream);
}

[[noreturn]] void keep(const sources::SourceContext& context, SignalQueue& signals,
                       HostSources& hosts, Pump& pump) {
  leave_caller();
  hosts.resume(context, pump.packer().manifest());
  pump.start(hosts.pointers());
  while (hosts.outlived() && !signals.told_to_end(kTickMs)) {
  }
  hosts.stop();
  pump.stop();
  hosts.tell(pump.packer().manifest());
  const Result<trace::FinishResult> finished = pump.packer().finish();
  ::_exit(finished ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

Status leave_keeper(const sources::SourceContext& context, SignalQueue& signals, HostSources& hosts,
                    Pump& pump) {
  const pid_t keeper = ::fork();
  if (keeper < 0) return os_error(errno, "start a process that goes on recording");
  if (keeper == 0) keep(context, signals, hosts, pump);
  return {};
}

}  // namespace fathom::session

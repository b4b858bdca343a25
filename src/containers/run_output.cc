// SPDX-License-Identifier: MIT
// Keeps and shows output while the application runs. A file that cannot be written becomes a
// trouble that the run reports at its end; the application goes on.
#include "containers/run_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/private_files.h"

namespace fathom::containers {
namespace {

void write_to(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd waiting{fd, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
      continue;
    }
    if (written <= 0) return;  // who listened has gone: the application goes on
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Result<RunOutput> RunOutput::open(const OneRun& run, bool tty) {
  FATHOM_ASSIGN(File out, open_private(run.out, O_WRONLY | O_EXCL));
  FATHOM_ASSIGN(File err, open_private(run.err, O_WRONLY | O_EXCL));
  return RunOutput(std::move(out), std::move(err), run.shown, tty);
}

void RunOutput::take(std::string_view bytes) {
  if (!splitter_)
    splitter_.emplace(tty_, [this](Stream stream, std::string_view text) { take(stream, text); });
  Status fed = splitter_->feed(bytes);
  if (!fed && !trouble_) trouble_ = std::move(fed).error();
}

void RunOutput::take(Stream stream, std::string_view text) {
  const bool is_err = stream == Stream::kErr;
  Status kept = (is_err ? err_ : out_).write_all(text);
  if (!kept && !trouble_) trouble_ = std::move(kept).error();
  if (shown_) write_to(is_err ? STDERR_FILENO : STDOUT_FILENO, text);
}

}  // namespace fathom::containers

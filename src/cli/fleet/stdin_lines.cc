// SPDX-License-Identifier: MIT
// Reads by poll() and read() instead of a stream, because a caller with rows to send must not wait
// for the next line. A line beyond the limit is skipped up to its end and reported.
#include "cli/fleet/stdin_lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/os_error.h"

namespace fathom::cli {

// False: nothing came in time.
Result<bool> StdinLines::read_more(int wait_ms) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  pollfd wait{.fd = fd_, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&wait, 1, wait_ms);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
  }
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kPiece);
  const ssize_t got = ::read(fd_, buffer_.data() + size, kPiece);
  const int error = errno;
  buffer_.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0 && error != EINTR && error != EAGAIN) return os_error(error, "read standard input");
  at_end_ = got == 0;
  return got >= 0;
}

Result<StdinLines::Line> StdinLines::next(int wait_ms) {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      const std::string_view text = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      if (skips_) {
        skips_ = false;
        return Line{State::kTooLong, {}};
      }
      return Line{State::kLine, text};
    }
    searched_ = buffer_.size();
    if (buffer_.size() - begin_ > kMostBytes) {
      skips_ = true;
      begin_ = searched_;
    }
    if (at_end_) {
      const std::string_view text = std::string_view(buffer_).substr(begin_);
      begin_ = searched_;
      if (skips_) {
        skips_ = false;
        return Line{State::kTooLong, {}};
      }
      return text.empty() ? Line{} : Line{State::kLine, text};
    }
    FATHOM_ASSIGN(const bool more, read_more(wait_ms));
    if (!more) return Line{State::kNothingYet, {}};
  }
}

}  // namespace fathom::cli

// SPDX-License-Identifier: MIT
// The live line, written straight with write(2). Failing to write it is no error, and it is cut to
// the terminal's width so that it never wraps.
#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "base/clock.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr std::int64_t kPeriodNs = 100'000'000;
constexpr std::string_view kEraseLine = "\r\033[K";

std::size_t terminal_width(int fd) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

// The first `width` characters; the bytes of one character stay together.
std::string_view cut(std::string_view line, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U;
    if (starts && ++characters > width) return line.substr(0, at);
  }
  return line;
}

void put(int fd, const std::string& text) {
  // A progress line that the terminal does not take is no loss.
  [[maybe_unused]] const ssize_t put = ::write(fd, text.data(), text.size());
}

}  // namespace

Progress::Progress(int fd) : fd_(fd), enabled_(isatty(fd) == 1) {}

bool Progress::due() const { return enabled_ && now_monotonic_ns() - last_ns_ >= kPeriodNs; }

void Progress::show(std::string_view line) {
  if (!enabled_) return;
  // The last column stays free: some terminals wrap when it is written.
  const std::string shown = escape_control(line);
  put(fd_, std::string(kEraseLine).append(cut(shown, terminal_width(fd_) - 1)));
  shown_ = true;
  last_ns_ = now_monotonic_ns();
}

void Progress::clear() {
  if (shown_) put(fd_, std::string(kEraseLine));
  shown_ = false;
}

}  // namespace fathom

// SPDX-License-Identifier: MIT
// What the terminal was is kept in memory of the process, since a handler of a crash must reach it.
#include "cli/top/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/os_error.h"
#include "base/text.h"

namespace fathom::cli::top {
namespace {

constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H";
constexpr char kLeave[] = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kEscapeNs = 50 * kNsPerMs;  // for the rest of a sequence
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

// A signal handler reads them.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
termios g_before{};
volatile std::sig_atomic_t g_entered = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t got = ::write(STDOUT_FILENO, text.data(), text.size());
    if (got > 0) {
      text.remove_prefix(static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) return false;
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    ::poll(&out, 1, -1);
  }
  return true;
}

// Also for handlers of signals.
void leave() {
  if (g_entered == 0) return;
  g_entered = 0;
  (void)write_all({kLeave, sizeof kLeave - 1});
  (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &g_before);
}

void on_crash(int number) {
  leave();
  (void)::raise(number);  // which ends us now: the handler was for once
}

// Keys come one by one and are not shown; those that send signals still do.
Status enter() {
  if (::tcgetattr(STDIN_FILENO, &g_before) != 0)
    return os_error(errno, "read the settings of the terminal");
  termios own = g_before;
  own.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  own.c_cc[VMIN] = 0;
  own.c_cc[VTIME] = 0;
  g_entered = 1;
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &own) != 0) {
    g_entered = 0;
    return os_error(errno, "change the settings of the terminal");
  }
  if (write_all({kEnter, sizeof kEnter - 1})) return {};
  leave();
  return Error{Code::kIo, "cannot write to the terminal", ""};
}

// Until somebody goes on with us.
void stop() {
  leave();
  (void)::raise(SIGSTOP);
  (void)enter();
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// As the C library reads them.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(),
                           [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

bool has_terminal() {
  const std::string_view kind = environment("TERM");
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !kind.empty() &&
         kind != "dumb";
}

Result<std::unique_ptr<Terminal>> Terminal::open() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kEnding) sigaddset(&set, number);
  for (const int number : {SIGWINCH, SIGTSTP}) sigaddset(&set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return os_error(errno, "wait for signals");
  struct sigaction crash {};
  crash.sa_handler = on_crash;
  crash.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int number : kCrashes) ::sigaction(number, &crash, nullptr);
  FATHOM_TRY(enter());
  return std::unique_ptr<Terminal>(new Terminal(std::move(signals)));
}

Terminal::~Terminal() { leave(); }

ScreenSize Terminal::size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {};
  return {size.ws_row, size.ws_col};
}

ScreenStyle Terminal::style() {
  return {.color = environment("NO_COLOR").empty(), .utf8 = speaks_utf8()};
}

// No line end behind the last line: it would scroll.
Status Terminal::draw(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); i++)
    text += (i == 0 ? "" : "\r\n") + escape_page(lines[i]) + "\x1b[K";
  text += "\x1b[J";
  if (write_all(text)) return {};
  return Error{Code::kIo, "cannot write to the terminal", ""};
}

void Terminal::take_signals(Happened& happened) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGTSTP) stop();
    if (number == SIGTSTP || number == SIGWINCH) happened.redraw = true;
    if (std::ranges::find(kEnding, number) != std::end(kEnding)) happened.ended_by = number;
  }
}

void Terminal::take_keys(Happened& happened) {
  char bytes[256];
  const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) {
    happened.hung_up = got == 0 || errno == EIO;
    return;
  }
  for (const Key key : keys_.take({bytes, static_cast<std::size_t>(got)}))
    happened.keys.push_back(key);
}

Terminal::Happened Terminal::wait(std::int64_t most_ns) {
  Happened happened;
  const std::int64_t wait = keys_.waits() ? std::min(most_ns, kEscapeNs) : most_ns;
  pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  const std::int64_t ms = (std::max<std::int64_t>(0, wait) + kNsPerMs - 1) / kNsPerMs;
  ::poll(ready, 2, static_cast<int>(std::min<std::int64_t>(ms, 3'600'000)));
  if (ready[1].revents != 0) take_signals(happened);
  if (ready[0].revents != 0) {
    take_keys(happened);
  } else if (keys_.waits()) {
    happened.keys = keys_.settle();
  }
  return happened;
}

}  // namespace fathom::cli::top

// SPDX-License-Identifier: MIT
// No failure here is an error: the address was printed.
#include "cli/fleet/open_browser.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/files.h"
#include "base/ids.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && value[0] != '\0') return true;
  }
  return false;
}

// Leads to the address. Tokens and hosts have no character that HTML minds.
std::string leading_page(const std::string& url) {
  return "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Fathom</title>\n"
         "<meta http-equiv=\"refresh\" content=\"0;url=" +
         url + "\">\n<a href=\"" + url + "\">Fathom</a>\n";
}

// In a session of its own, so that Ctrl-C here does not end the browser; and a grandchild, so that
// nobody has to wait for it.
void start_apart(const std::string& path) {
  const pid_t child = ::fork();
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (child != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(nothing, fd);
  closefrom(3);  // what listens is ours
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execlp("xdg-open", "xdg-open", path.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

void OpenedBrowser::open(const std::string& url) {
  if (!has_display()) return;
  Result<ScratchDirectory> room =
      ScratchDirectory::make(join_path(scratch_directory(), "fathom-view-" + random_id()));
  if (!room) return tell(room.error());
  room_ = std::move(*room);
  const std::string page = join_path(room_.path(), "fathom.html");
  if (const Status written = write_file_atomic(page, leading_page(url), 0600); !written)
    return tell(written.error());
  start_apart(page);
}

}  // namespace fathom::cli

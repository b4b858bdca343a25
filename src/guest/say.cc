// SPDX-License-Identifier: MIT
// A line on stderr at most, and only while descriptor 2 is what the program began with.
#include "guest/say.h"

#include <stdint.h>
#include <sys/stat.h>

#include "guest/private_place.h"
#include "guest/proc_lines.h"
#include "guest/runtime.h"
#include "guest/text.h"

namespace fathom::guest {
namespace {

constexpr int kStderr = 2;

struct Noted {
  bool known;
  dev_t device;
  ino_t inode;
};
constinit Noted noted = {};

bool is_as_noted() {
  struct stat now {};
  return noted.known && look_at(kStderr, "", now) && now.st_dev == noted.device &&
         now.st_ino == noted.inode;
}

uintptr_t hex_number(const char*& at) {
  uintptr_t number = 0;
  for (;; at++) {
    const unsigned digit = *at >= '0' && *at <= '9'   ? static_cast<unsigned>(*at - '0')
                           : *at >= 'a' && *at <= 'f' ? static_cast<unsigned>(*at - 'a') + 10
                                                      : 16;
    if (digit == 16) return number;
    number = number * 16 + digit;
  }
}

// A line of maps: `begin-end rights offset device inode path`.
bool maps_this_code(const char* line) {
  const auto here = reinterpret_cast<uintptr_t>(&maps_this_code);
  const char* at = line;
  const uintptr_t begin = hex_number(at);
  if (*at++ != '-') return false;
  return here >= begin && here < hex_number(at);
}

}  // namespace

void note_stderr() {
  struct stat now {};
  if (!noted.known && look_at(kStderr, "", now)) noted = {true, now.st_dev, now.st_ino};
}

void say(const char* text) {
  if (is_as_noted()) sys_write(kStderr, text, strlen(text));
}

void say_once(const char* entry, const char* text) {
  const Scratch path;
  if (path.text() == nullptr) return;
  Text(path.text(), Scratch::kRoom).add(guest.out).add(entry);
  const int mark = sys_openat(AT_FDCWD, path.text(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600);
  if (mark < 0) return;
  sys_close(mark);
  say(text);
}

bool find_own_file(char* path, size_t room) {
  ProcLines maps("/proc/self/maps");
  while (const char* line = maps.next()) {
    if (!maps_this_code(line)) continue;
    const char* const name = strchr(line, '/');
    if (name == nullptr || strlen(name) >= room) return false;
    Text(path, room).add(name);
    return true;
  }
  return false;
}

bool has_parent_with_library() {
  const Scratch own;
  if (own.text() == nullptr || !find_own_file(own.text(), Scratch::kRoom)) return false;
  char maps[32];
  Text(maps, sizeof maps)
      .add("/proc/")
      .add_number(static_cast<uint64_t>(sys_getppid()))
      .add("/maps");
  ProcLines lines(maps);
  while (const char* line = lines.next()) {
    if (strstr(line, own.text()) != nullptr) return true;
  }
  return false;
}

}  // namespace fathom::guest

// SPDX-License-Identifier: MIT
// The guest's half of base/own_file.cc, without libc's help: each directory on the way is checked,
// since whoever can rename one can put another in its place.
#include "guest/private_place.h"

#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/pool_file.h"
#include "guest/runtime.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/drop_in.h"

namespace fathom::guest {
namespace {

uint32_t own_user() { return static_cast<uint32_t>(raw_syscall(SYS_geteuid)); }

// A group that has its user's number has no other members, by convention.
bool others_write(const struct stat& facts) {
  return (facts.st_mode & S_IWOTH) != 0 ||
         ((facts.st_mode & S_IWGRP) != 0 && facts.st_gid != facts.st_uid);
}

// Whether others cannot exchange what lies in this directory and is not theirs. In one with the
// sticky bit they may take names that are free.
bool is_kept(const char* path, bool sticky_will_do) {
  struct stat facts {};
  if (!look_at(path, facts) || !S_ISDIR(facts.st_mode)) return false;
  if (facts.st_uid != 0 && facts.st_uid != own_user()) return false;
  return !others_write(facts) || (sticky_will_do && (facts.st_mode & S_ISVTX) != 0);
}

// Every directory on the way to `path`, which has no links, and that itself.
bool is_way_kept(char* path, bool sticky_will_do) {
  if (path[0] != '/' || !is_kept("/", true)) return false;
  for (char* at = path + 1; *at != 0; at++) {
    if (*at != '/') continue;
    *at = 0;
    const bool kept = is_kept(path, true);
    *at = '/';
    if (!kept) return false;
  }
  return is_kept(path, sticky_will_do);
}

// Its name without links, if /proc tells; else the name that it has.
bool plain_name(const char* directory, char* path, size_t room) {
  const int fd = sys_openat(AT_FDCWD, directory, O_PATH | O_DIRECTORY, 0);
  if (fd < 0) return false;
  char link[40];
  Text(link, sizeof link).add("/proc/self/fd/").add_number(static_cast<uint64_t>(fd));
  const long length = sys_readlink(link, path, room - 1);
  if (length > 0) {
    path[length] = 0;
  } else {
    Text(path, room).add(directory);
  }
  struct stat there {};
  struct stat here {};
  const bool same = look_at(fd, "", here) && look_at(path, there) && here.st_ino == there.st_ino &&
                    here.st_dev == there.st_dev;
  sys_close(fd);
  return same;
}

bool private_place_in(const char* parent, char* path, size_t room) {
  if (!plain_name(parent, path, room) || !is_way_kept(path, true)) return false;
  const size_t length = strlen(path);
  if (length + 32 > room) return false;
  Text(path + length, room - length).add("/" FATHOM_PRIVATE_PREFIX).add_number(own_user());
  return make_own_directory(path);
}

bool private_place_at_home(char* path, size_t room) {
  const char* home = setting("HOME");
  if (home == nullptr || *home != '/' || !is_ours_alone(home, path, room)) return false;
  const size_t length = strlen(path);
  if (length + 32 > room) return false;
  Text(path + length, room - length).add("/" FATHOM_PRIVATE_AT_HOME);
  return make_own_directory(path);
}

// --- wishes
// ------------------------------------------------------------------------------------------------------

bool name_wishes(char* path, size_t room) {
  struct stat spool {};
  if (!find_private_place(path, room) || guest.run == nullptr || !look_at(guest.out, spool))
    return false;
  const size_t length = strlen(path);
  if (length + 100 > room) return false;
  Text name(path + length, room - length);
  name.add("/");
  for (const uint8_t byte : guest.run->run_id) name.add_hex(byte >> 4).add_hex(byte & 15);
  name.add("-").add_hex(spool.st_dev).add("-").add_hex(spool.st_ino).add(FATHOM_WISHES_SUFFIX);
  return true;
}

// A file of ours that others cannot open.
bool is_own_file(int fd, size_t& size) {
  struct stat facts {};
  if (!look_at(fd, "", facts) || !S_ISREG(facts.st_mode)) return false;
  size = static_cast<size_t>(facts.st_size);
  return facts.st_uid == own_user() && (facts.st_mode & 077) == 0 && size < FATHOM_WISHES_MAX;
}

bool has_record(int fd, size_t size, const char* record, size_t length) {
  if (size < length) return false;
  auto* text = static_cast<const char*>(sys_mmap(size, PROT_READ, MAP_PRIVATE, fd));
  if (text == nullptr) return false;
  bool found = false;
  for (size_t at = 0; !found && at + length <= size; at++) {
    const bool begins = at == 0 || text[at - 1] == 0;
    found = begins && memcmp(text + at, record, length) == 0;
  }
  sys_munmap(const_cast<char*>(text), size);
  return found;
}

}  // namespace

bool look_at(int directory, const char* path, struct stat& facts) {
  return raw_syscall(SYS_newfstatat, directory, as_long(path), as_long(&facts),
                     *path == 0 ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW) == 0;
}

bool look_at(const char* path, struct stat& facts) { return look_at(AT_FDCWD, path, facts); }

bool is_ours_alone(const char* directory, char* path, size_t room) {
  return plain_name(directory, path, room) && is_way_kept(path, false);
}

// The mode is set where we made it: a umask may have taken from us what others must not have.
bool make_own_directory(const char* path) {
  if (raw_syscall(SYS_mkdirat, AT_FDCWD, as_long(path), 0700) == 0)
    raw_syscall(SYS_fchmodat, AT_FDCWD, as_long(path), 0700);
  struct stat facts {};
  return look_at(path, facts) && S_ISDIR(facts.st_mode) && facts.st_uid == own_user() &&
         (facts.st_mode & 077) == 0;
}

bool find_private_place(char* path, size_t room) {
  for (const char* parent : {FATHOM_PRIVATE_PARENTS}) {
    if (private_place_in(parent, path, room)) return true;
  }
  return private_place_at_home(path, room);
}

bool note_wish(const char* what, const char* where) {
  const Scratch path, record;
  if (path.text() == nullptr || record.text() == nullptr) return false;
  if (!name_wishes(path.text(), Scratch::kRoom)) return false;
  Text text(record.text(), Scratch::kRoom);
  text.add(what);
  if (*where != 0) text.add(" ").add(where);
  const size_t length = text.length() + 1;  // with its NUL
  const int fd = sys_openat(AT_FDCWD, path.text(), O_CREAT | O_RDWR | O_APPEND | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  size_t size = 0;
  bool noted = is_own_file(fd, size) && raw_syscall(SYS_fchmod, fd, 0600) == 0;
  if (noted && !has_record(fd, size, record.text(), length))
    noted = allowed_size(size + length) &&
            sys_write(fd, record.text(), length) == static_cast<long>(length);
  sys_close(fd);
  return noted;
}

}  // namespace fathom::guest

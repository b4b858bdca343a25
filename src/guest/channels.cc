// SPDX-License-Identifier: MIT
// Asks by system calls alone. A pipe's two ends are brought together by the host, which knows who
// else used the same one.
#include "guest/channels.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "guest/descriptors.h"
#include "guest/elf_object.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest {
namespace {

constexpr const char* kNoFiles[] = {"/dev/pts/", "/dev/tty", "/dev/ptmx",     "/dev/console",
                                    "/dev/std",  "/dev/fd/", "/proc/self/fd/"};

enum class End : uint8_t { kReads, kWrites, kBoth };

End end_of(int fd) {
  const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDWR) return End::kBoth;
  return (flags & O_ACCMODE) == O_WRONLY ? End::kWrites : End::kReads;
}

const char* direction_of(int fd) {
  const End end = end_of(fd);
  return end == End::kBoth ? "pipe " : end == End::kWrites ? "pipe to " : "pipe from ";
}

// One that has a path: by the file system and the number that it has there.
void add_fifo(const struct stat& facts, Text& text) {
  text.add("[").add_number(facts.st_dev).add(":").add_number(facts.st_ino).add("]");
}

constexpr char kPipe[] = "pipe:", kSocket[] = "socket:", kObject[] = "anon_inode:";
constexpr size_t kShort = 128;  // of what has no path

void add_v4(const uint8_t* bytes, Text& text) {
  for (int i = 0; i < 4; i++) text.add(i == 0 ? "" : ".").add_number(bytes[i]);
}

// The longest run of zeros is left out, as everybody writes it.
void add_v6(const uint8_t* bytes, Text& text) {
  constexpr size_t kGroups = 8;
  unsigned groups[kGroups];
  for (size_t i = 0; i < kGroups; i++)
    groups[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  size_t first = kGroups, length = 1;
  for (size_t i = 0; i < kGroups; i++) {
    size_t end = i;
    while (end < kGroups && groups[end] == 0) end++;
    if (end - i > length) first = i, length = end - i;
  }
  text.add("[");
  for (size_t i = 0; i < kGroups; i++) {
    if (i == first) {
      text.add("::");
      i += length - 1;
      continue;
    }
    if (i > 0 && i != first + length) text.add(":");
    text.add_hex(groups[i]);
  }
  text.add("]");
}

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_un path;
  sockaddr_storage room;
};

bool add_path(const Address& address, unsigned size, Text& text) {
  const unsigned begin = offsetof(sockaddr_un, sun_path);
  if (size <= begin) return false;
  const char* path = address.path.sun_path;
  const bool is_abstract = *path == 0;
  const unsigned length =
      size - begin < sizeof address.path.sun_path ? size - begin : sizeof address.path.sun_path;
  if (is_abstract) text.add(" @").add(path + 1, length - 1);
  if (!is_abstract) text.add(" ").add(path, strnlen(path, length));
  return true;
}

// False where the address says nothing.
bool add_address(const Address& address, unsigned size, Text& text) {
  switch (address.any.sa_family) {
    case AF_INET:
      text.add(" ");
      add_v4(reinterpret_cast<const uint8_t*>(&address.v4.sin_addr), text);
      text.add(":").add_number(ntohs(address.v4.sin_port));
      return true;
    case AF_INET6: {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&address.v6.sin6_addr);
      constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
      text.add(" ");
      if (memcmp(bytes, kMapped, sizeof kMapped) == 0) {
        add_v4(bytes + sizeof kMapped, text);
      } else {
        add_v6(bytes, text);
      }
      text.add(":").add_number(ntohs(address.v6.sin6_port));
      return true;
    }
    case AF_UNIX:
      return add_path(address, size, text);
    default:
      return false;
  }
}

// The other side's address. A server's side of a socket with a path has its own path alone.
size_t describe_socket(int fd, Text& text) {
  text.add("socket");
  Address address;
  unsigned size = sizeof address;
  const bool connected = raw_syscall(SYS_getpeername, fd, as_long(&address), as_long(&size)) == 0;
  if (connected && add_address(address, size, text)) return text.length();
  size = sizeof address;
  if (raw_syscall(SYS_getsockname, fd, as_long(&address), as_long(&size)) != 0)
    return text.length();
  const bool has_path = address.any.sa_family == AF_UNIX;
  if (!connected && !has_path) text.add(" at");
  if (!add_address(address, size, text) && connected && has_path) text.add(" pair");
  return text.length();
}

// "anon_inode:[eventfd]", "anon_inode:inotify"
size_t describe_object(const char* name, size_t length, Text& text) {
  if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
    name++;
    length -= 2;
  }
  const bool is_epoll = length == strlen("eventpoll") && memcmp(name, "eventpoll", length) == 0;
  return (is_epoll ? text.add("epoll") : text.add(name, length)).length();
}

}  // namespace

bool is_no_file(const char* path) {
  for (const char* begin : kNoFiles) {
    if (starts_with(path, begin)) return true;
  }
  return false;
}

size_t describe_channel(int fd, char* to, size_t room) {
  char link[kShort] = {};
  const long length = name_of_descriptor(fd, link, sizeof link - 1);
  if (length <= 0) return 0;
  Text text(to, room);
  // A pipe has the kernel's number, which stands in brackets.
  if (starts_with(link, kPipe))
    return text.add(direction_of(fd)).add(link + strlen(kPipe)).length();
  if (starts_with(link, kSocket)) return describe_socket(fd, text);
  if (starts_with(link, kObject))
    return describe_object(link + strlen(kObject), static_cast<size_t>(length) - strlen(kObject),
                           text);
  struct stat facts;
  if (raw_syscall(SYS_fstat, fd, as_long(&facts)) != 0) return 0;
  if (S_ISFIFO(facts.st_mode)) {
    add_fifo(facts, text.add(direction_of(fd)));
    return text.add(" ").add(link).length();
  }
  struct termios terminal;
  if (!S_ISCHR(facts.st_mode) || raw_syscall(SYS_ioctl, fd, TCGETS, as_long(&terminal)) != 0)
    return 0;
  return text.add("tty").length();
}

size_t describe_mover(int fd, bool writes, char* to, size_t room) {
  char link[kShort] = {};
  if (name_of_descriptor(fd, link, sizeof link - 1) <= 0) return 0;
  const bool has_number = starts_with(link, kPipe);
  struct stat facts = {};
  if (!has_number && (raw_syscall(SYS_fstat, fd, as_long(&facts)) != 0 || !S_ISFIFO(facts.st_mode)))
    return 0;
  const End end = end_of(fd);
  Text text(to, room);
  text.add(end == End::kWrites || (end == End::kBoth && writes) ? "moved to " : "moved from ");
  if (has_number) return text.add(link + strlen(kPipe)).length();
  add_fifo(facts, text);
  return text.length();
}

}  // namespace fathom::guest

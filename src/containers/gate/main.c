/* SPDX-License-Identifier: MIT
   gate SOCKET PROGRAM [ARGUMENT...]: the first process of a container that is recorded. It waits
   until the recorder follows it, takes the variables that the recorder sends, and becomes the
   application: same process, arguments, directory, user and streams. Linked statically, since an
   image may have no libc, or another one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "containers/gate/gate.h"

enum { kCannotRun = 126, kNotFound = 127, kMostScripts = 4, kPathRoom = 4096 };

static int exit_status(int error) { return error == ENOENT ? kNotFound : kCannotRun; }

static int is_program(const char* path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return 0;
  if (S_ISDIR(facts.st_mode)) errno = EISDIR;
  if (!S_ISREG(facts.st_mode)) return 0;
  return access(path, X_OK) == 0;
}

/* As the engine's own runtime looks for it: a name with a stroke is a path, any other is searched.
 */
static int find_program(const char* name, char* path) {
  const char* folders = getenv("PATH");
  int denied = ENOENT;
  if (strlen(name) >= kPathRoom) return ENAMETOOLONG;
  if (strchr(name, '/') != NULL) {
    strcpy(path, name);
    errno = 0;
    return is_program(path) ? 0 : errno != 0 ? errno : EACCES;
  }
  while (folders != NULL && *folders != 0 && *name != 0) {
    const size_t length = strcspn(folders, ":");
    if (length + strlen(name) + 3 < kPathRoom) {
      memcpy(path, length != 0 ? folders : ".", length != 0 ? length : 1);
      path[length != 0 ? length : 1] = '/';
      strcpy(path + (length != 0 ? length : 1) + 1, name);
      errno = 0;
      if (is_program(path)) return 0;
      if (errno == EACCES || errno == EISDIR) denied = EACCES;
    }
    folders += length + (folders[length] == ':');
  }
  return denied;
}

/* The path behind "#!", in its own place; 0: this is no script. */
static int script_interpreter(int file, char* path) {
  char head[kPathRoom];
  const ssize_t length = pread(file, head, sizeof head - 1, 0);
  if (length < 3 || head[0] != '#' || head[1] != '!') return 0;
  head[length] = 0;
  char* begin = head + 2 + strspn(head + 2, " \t");
  begin[strcspn(begin, " \t\n")] = 0;
  if (*begin == 0) return 0;
  strcpy(path, begin);
  return 1;
}

/* Of scripts the interpreter's file: its loader is the one that minds a library. */
static int open_loaded(const char* program) {
  char path[kPathRoom];
  strcpy(path, program);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  for (int i = 0; i < kMostScripts && file >= 0 && script_interpreter(file, path); i++) {
    close(file);
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  }
  return file;
}

static int open_line(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (line < 0 || strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  if (connect(line, (const struct sockaddr*)&address, sizeof address) == 0) return line;
  close(line);
  return -1;
}

static void tell_ready(int line, const char* program, int file) {
  char kind = FATHOM_GATE_READY;
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec pieces[2] = {{&kind, 1}, {(void*)(size_t)program, strlen(program)}};
  struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
  if (file >= 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = sizeof control.room;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
  }
  (void)!sendmsg(line, &message, MSG_NOSIGNAL);
}

static int fail(int line, int error) {
  char packet[1 + sizeof error] = {FATHOM_GATE_FAILED};
  memcpy(packet + 1, &error, sizeof error);
  if (line >= 0) (void)!send(line, packet, sizeof packet, MSG_NOSIGNAL);
  return exit_status(error);
}

static void take_variables(int line) {
  static char packet[FATHOM_GATE_MOST_BYTES + 1];
  ssize_t length;
  do {
    length = recv(line, packet, FATHOM_GATE_MOST_BYTES, 0);
  } while (length < 0 && errno == EINTR);
  /* putenv keeps the text: it stays in `packet`. */
  for (char* at = packet; length > 0 && at < packet + length; at += strlen(at) + 1)
    if (strchr(at, '=') != NULL) putenv(at);
}

int main(int count, char** words) {
  extern char** environ;
  char program[kPathRoom];
  if (count < 3) return kNotFound;
  const int line = open_line(words[1]);
  const int missing = find_program(words[2], program);
  if (missing != 0) return fail(line, missing);
  if (line >= 0) {
    const int file = open_loaded(program);
    tell_ready(line, program, file);
    if (file >= 0) close(file);
    take_variables(line);
  }
  execve(program, words + 2, environ);
  return fail(line, errno);
}

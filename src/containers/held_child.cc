// SPDX-License-Identifier: MIT
// Everything that the child needs is made before fork, since nothing may be allocated between fork
// and exec in a process with threads.
#include "containers/held_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os_error.h"
#include "base/text.h"

namespace fathom::containers {
namespace {

struct Pipe {
  Fd read, write;

  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return os_error(errno, "make a pipe");
    return Pipe{Fd(ends[0]), Fd(ends[1])};
  }
};

struct Pipes {
  Pipe out, err, go, failure;
};

Result<Pipes> make_pipes() {
  Pipes all;
  for (Pipe* const one : {&all.out, &all.err, &all.go, &all.failure}) {
    FATHOM_ASSIGN(*one, Pipe::make());
  }
  return all;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// A script without a first line for the kernel: shells give it to sh.
std::vector<std::string> script_words(const ChildSpec& spec) {
  std::vector<std::string> words = {"/bin/sh", spec.path};
  words.insert(words.end(), spec.words.begin() + 1, spec.words.end());
  return words;
}

bool is_let_go(int go) {
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(go, &word, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

struct Prepared {
  explicit Prepared(const ChildSpec& from)
      : spec(from),
        script(script_words(from)),
        argv(pointers_to(from.words)),
        script_argv(pointers_to(script)),
        envp(pointers_to(from.environment)) {}

  const ChildSpec& spec;
  std::vector<std::string> script;
  std::vector<char*> argv, script_argv, envp;
};

// Streams, folder and groups; false: errno says why not.
bool settle(const ChildSpec& spec, const Pipes& pipes) {
  ::setpgid(0, 0);  // a terminal's signals reach it by us, once
  ::prctl(PR_SET_PDEATHSIG, spec.on_our_death);
  for (const Fd& group : spec.groups) {
    if (::write(group.get(), "0", 1) != 1) return false;
  }
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
         ::dup2(pipes.out.write.get(), STDOUT_FILENO) >= 0 &&
         ::dup2(pipes.err.write.get(), STDERR_FILENO) >= 0 && ::chdir(spec.folder.c_str()) == 0;
}

[[noreturn]] void become(const Prepared& prepared, const Pipes& pipes,
                         const session::SignalQueue& signals) {
  constexpr int kCannot = 127;
  ::close(pipes.go.write.get());  // else it would wait for itself when we are gone
  if (settle(prepared.spec, pipes)) {
    if (!is_let_go(pipes.go.read.get())) ::_exit(kCannot);
    signals.restore_in_child();
    ::execve(prepared.spec.path.c_str(), prepared.argv.data(), prepared.envp.data());
    if (errno == ENOEXEC) ::execve("/bin/sh", prepared.script_argv.data(), prepared.envp.data());
  }
  const int number = errno;
  (void)!::write(pipes.failure.write.get(), &number, sizeof number);
  ::_exit(kCannot);
}

const char* reason_for(int number) {
  if (number == ENOENT) return "executable file not found in $PATH";
  return number == EACCES ? "permission denied" : std::strerror(number);  // NOLINT(*-mt-unsafe)
}

}  // namespace

Result<HeldChild> hold_child(const ChildSpec& spec, const session::SignalQueue& signals) {
  const Prepared prepared(spec);
  FATHOM_ASSIGN(Pipes pipes, make_pipes());
  const pid_t child = ::fork();
  if (child < 0) return os_error(errno, "start " + escape_control(spec.path));
  if (child == 0) become(prepared, pipes, signals);
  return HeldChild{.pid = child,
                   .out = std::move(pipes.out.read),
                   .err = std::move(pipes.err.read),
                   .watch = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))),
                   .go = std::move(pipes.go.write),
                   .failure = std::move(pipes.failure.read)};
}

// exec closes the pipe without a word; a failure writes its number.
Status let_go(HeldChild& child, const std::string& name) {
  const Fd failure = std::exchange(child.failure, Fd());
  (void)!::write(child.go.get(), "", 1);
  child.go.reset();
  int number = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure.get(), &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof number)) return {};
  (void)::waitpid(std::exchange(child.pid, 0), nullptr, 0);
  return Error{Code::kDenied, escape_control(name) + " cannot be run: " + reason_for(number), ""};
}

}  // namespace fathom::containers

// SPDX-License-Identifier: MIT
// Starts the program behind a gate: the child waits until all that records it is there, and reports
// through a second pipe whether exec worked, which closes that pipe without a word. Everything that
// the child needs is made before fork, since nothing may be allocated between fork and exec in a
// process with threads.
#include "session/run/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/os_error.h"
#include "base/text.h"

namespace fathom::session {
namespace {

// What a path is as a program.
enum class Fit { kNothing, kUnusable, kRuns };

Fit fit_of(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return errno == EACCES ? Fit::kUnusable : Fit::kNothing;
  if (!S_ISREG(facts.st_mode) || eaccess(path.c_str(), X_OK) != 0) return Fit::kUnusable;
  return Fit::kRuns;
}

Error not_found(const std::string& word) {
  return {Code::kNotFound, word + ": there is no such program", "check its name and PATH"};
}
Error not_runnable(const std::string& path) {
  if (is_directory(path))
    return {Code::kDenied, path + " is a directory, not a program", "name a file in it"};
  return {Code::kDenied, path + " is not a program that may be run", "check its mode (chmod +x)"};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Everything that the child needs, made before fork: between fork and exec nothing is allocated.
struct Prepared {
  explicit Prepared(const ProgramSpec& spec)
      : path(spec.path),
        words(spec.words),
        environment(spec.environment),
        script{"/bin/sh", spec.path} {
    script.insert(script.end(), spec.words.begin() + 1, spec.words.end());
    argv = pointers(words);
    envp = pointers(environment);
    script_argv = pointers(script);
  }
  std::string path;
  std::vector<std::string> words, environment, script;
  std::vector<char*> argv, envp, script_argv;
};

[[noreturn]] void become(const Prepared& prepared, const SignalQueue& signals, int go, int report) {
  char word = 0;
  ssize_t got = 0;
  do {
    got = read(go, &word, 1);
  } while (got < 0 && errno == EINTR);
  // The recorder gave up, or died: the program never begins.
  if (got != 1) _exit(127);
  signals.restore_in_child();
  execve(prepared.path.c_str(), prepared.argv.data(), prepared.envp.data());
  // A script without a first line for the kernel: shells and execvp give it to sh.
  if (errno == ENOEXEC) execve("/bin/sh", prepared.script_argv.data(), prepared.envp.data());
  const int number = errno;
  (void)!write(report, &number, sizeof number);
  _exit(127);
}

struct Pipe {
  Fd read_end;
  Fd write_end;
};
Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return os_error(errno, "make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

Result<std::string> find_program(const std::string& word) {
  const char* const path = std::getenv("PATH");
  return find_program(word, path != nullptr ? path : "/bin:/usr/bin", "");
}

Result<std::string> find_program(const std::string& word, const std::string& path,
                                 const std::string& folder) {
  const auto from_folder = [&](const std::string& file) {
    return folder.empty() || file.starts_with('/') ? file : join_path(folder, file);
  };
  if (word.find('/') != std::string::npos) {
    const std::string candidate = from_folder(word);
    switch (fit_of(candidate)) {
      case Fit::kRuns:
        return candidate;
      case Fit::kUnusable:
        return not_runnable(word);
      case Fit::kNothing:
        return not_found(word);
    }
  }
  std::string unusable;
  for (const std::string_view place : split(path, ':')) {
    if (word.empty()) break;
    const std::string candidate = from_folder(join_path(place.empty() ? "." : place, word));
    const Fit fit = fit_of(candidate);
    if (fit == Fit::kRuns) return candidate;
    // As a shell: what may not be run is passed over, and told of only if nothing else is found.
    if (fit == Fit::kUnusable && unusable.empty()) unusable = candidate;
  }
  return unusable.empty() ? not_found(word) : not_runnable(unusable);
}

int shell_status(const Error& error) { return error.code == Code::kNotFound ? 127 : 126; }

Result<pid_t> start_program(const ProgramSpec& spec, SignalQueue& signals,
                            const std::function<Status(pid_t)>& before) {
  Prepared prepared(spec);
  signals.witness().start();
  FATHOM_ASSIGN(Pipe report, make_pipe());
  FATHOM_ASSIGN(Pipe go, make_pipe());
  const pid_t child = fork();
  if (child < 0) return os_error(errno, "start " + spec.path);
  if (child == 0) {
    go.write_end.reset();
    become(prepared, signals, go.read_end.get(), report.write_end.get());
  }
  report.write_end.reset();
  if (const Status ready = before ? before(child) : Status(); !ready) {
    go.write_end.reset();
    waitpid(child, nullptr, 0);
    return ready.error();
  }
  (void)!write(go.write_end.get(), "", 1);
  // exec closes the pipe without a word; a failure writes its number.
  int number = 0;
  ssize_t got = 0;
  do {
    got = read(report.read_end.get(), &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof number)) return child;
  waitpid(child, nullptr, 0);
  const Code code = number == ENOENT && !path_exists(spec.path) ? Code::kNotFound : Code::kDenied;
  return Error{code, spec.path + " cannot be run: " + std::strerror(number), ""};
}

}  // namespace fathom::session

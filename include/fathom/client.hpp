// SPDX-License-Identifier: MIT
// Sends numbers of your own to a job of Fathom's fleet (docs/fleet.md). A header alone: it starts
// `fathom agent profile --stdin`, which keeps the numbers while the server is away.
//
//   fathom::ProfileClient client("nightly");
//   client.add("solve()", "simulate", "flops", 1'000'000);
//   if (!client.finish()) std::cerr << "not stored\n";
#ifndef FATHOM_CLIENT_HPP
#define FATHOM_CLIENT_HPP

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" char** environ;

namespace fathom {

// One thread at a time. Nothing throws but what allocating may.
class ProfileClient {
 public:
  // `options` are those of `fathom agent profile`, such as {"--server", "https://host:10000"};
  // `program` is where `fathom` lies, or its name on PATH.
  explicit ProfileClient(const std::string& job, const std::vector<std::string>& options = {},
                         const std::string& program = "fathom") {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    std::vector<std::string> words = {program, "agent", "profile", "--stdin", "--job", job};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    if (::posix_spawnp(&agent_, program.c_str(), &actions, nullptr, pointers.data(), environ) != 0)
      agent_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    pipe_ = ends[1];
  }
  ProfileClient(const ProfileClient&) = delete;
  ProfileClient& operator=(const ProfileClient&) = delete;
  ~ProfileClient() { finish(); }

  // `count` is a whole number from 0; equal rows are added up. False: it was not taken.
  bool add(std::string_view node, std::string_view exec, std::string_view event,
           std::int64_t count) {
    if (agent_ < 0 || pipe_ < 0 || count < 0) return false;
    text_ += "{\"node\": ";
    append_text(node);
    text_ += ", \"exec\": ";
    append_text(exec);
    text_ += ", \"event\": ";
    append_text(event);
    text_ += ", \"count\": " + std::to_string(count) + "}\n";
    return text_.size() < kPiece || flush();
  }

  // Hands on what was added so far.
  bool flush() {
    const bool written = write_all();
    text_.clear();
    good_ = good_ && written;
    return written;
  }

  // True: everything is stored, or waits in the outbox for a server that is away.
  bool finish() {
    if (agent_ < 0) return false;
    flush();
    ::close(pipe_);
    pipe_ = -1;
    int status = 0;
    while (::waitpid(agent_, &status, 0) < 0 && errno == EINTR) {
    }
    agent_ = -1;
    return good_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  static constexpr std::size_t kPiece = 1 << 16;

  // An agent that is gone is a false, and no SIGPIPE for the program.
  bool write_all() {
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    std::size_t done = 0;
    bool good = true;
    while (good && done < text_.size()) {
      const ssize_t wrote = ::write(pipe_, text_.data() + done, text_.size() - done);
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
      good = wrote > 0 || (wrote < 0 && errno == EINTR);
    }
    if (!good && errno == EPIPE) {
      const timespec now = {0, 0};
      ::sigtimedwait(&pipe_signal, nullptr, &now);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return good;
  }

  // Bytes that are no UTF-8 are the agent's to refuse.
  void append_text(std::string_view text) {
    static constexpr char kDigits[] = "0123456789abcdef";
    text_ += '"';
    for (const char letter : text) {
      const auto byte = static_cast<unsigned char>(letter);
      if (letter == '"' || letter == '\\') {
        text_ += '\\';
        text_ += letter;
      } else if (byte < 0x20) {
        text_ += "\\u00";
        text_ += kDigits[byte >> 4U];
        text_ += kDigits[byte & 15U];
      } else {
        text_ += letter;
      }
    }
    text_ += '"';
  }

  pid_t agent_ = -1;
  int pipe_ = -1;
  bool good_ = true;
  std::string text_;
};

}  // namespace fathom

#endif  // FATHOM_CLIENT_HPP

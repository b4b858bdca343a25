// SPDX-License-Identifier: MIT
// What descriptors lead to that are no files: pipes, sockets, terminals. A process names those that
// it reads or writes (docs/formats/spool.md, "Channels"); a pipe's name says which end it is, and
// the number that both ends share tells who uses the other one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::trace {

struct Process;

inline constexpr char kPeerKey[] = "peer";           // of args
inline constexpr char kTargetPeerKey[] = "to_peer";  // the same of what a copy writes to

// "sort (pid 17)"
[[nodiscard]] std::string user_text(std::string_view program, std::int64_t pid);

// Words for readers: of "pipe to [4711]" and the user of the other end "pipe to sort (pid 17)", of
// one whose other end nobody recorded "pipe". All that is no pipe is as it was named.
[[nodiscard]] std::string channel_text(std::string_view words, std::string_view user);

// Who uses which end of which pipe. Bounded: beyond that, pipes are just pipes.
class PipeUsers {
 public:
  static constexpr std::size_t kMostMovers = 1024;  // of an end; who are more are "many"

  // Whom an end is shared by, as far as the other end is concerned.
  struct Other {
    const Process* first = nullptr;  // nullptr: nobody whom we know
    std::size_t processes = 0;
  };

  // A text that a process defined; whether it told something new.
  bool add(std::string_view words, const Process& process);
  // Who reads what is written there, or the other way round: those who moved bytes, each process
  // once, whatever programs it ran. Where nobody has yet (or recordings do not tell), one of those
  // who use it: of other processes the one that began first, else the process itself.
  [[nodiscard]] Other other_end(std::string_view words, const Process& process) const;

 private:
  static constexpr std::size_t kMostPipes = std::size_t{1} << 16;
  static constexpr std::size_t kMostUsers = 8;  // of an end

  struct Users {
    std::vector<const Process*> all, movers;
  };
  struct Ends {
    Users readers, writers;
  };
  std::unordered_map<std::string, Ends> pipes_;  // by what stands in the brackets
};

// "sort (pid 17)", "3 processes", "many processes"; "" for nobody.
[[nodiscard]] std::string users_text(const PipeUsers::Other& other, std::string_view program);

}  // namespace fathom::trace

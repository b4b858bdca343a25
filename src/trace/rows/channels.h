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

inline constexpr char kPeerKey[] = "peer";  // of args

// "sort (pid 17)"
[[nodiscard]] std::string user_text(std::string_view program, std::int64_t pid);

// Words for readers: of "pipe to [4711]" and the user of the other end "pipe to sort (pid 17)", of
// one whose other end nobody recorded "pipe". All that is no pipe is as it was named.
[[nodiscard]] std::string channel_text(std::string_view words, std::string_view user);

// Who uses which end of which pipe. Bounded: beyond that, pipes are just pipes.
class PipeUsers {
 public:
  // A text that a process defined; whether it told something new.
  bool add(std::string_view words, const Process& process);
  // Who reads what is written there, or the other way round: of other processes the one that began
  // first, else the process itself. nullptr: nobody whom we know.
  [[nodiscard]] const Process* other_end(std::string_view words, const Process& process) const;

 private:
  static constexpr std::size_t kMostPipes = std::size_t{1} << 16;
  static constexpr std::size_t kMostUsers = 8;  // of an end

  struct Ends {
    std::vector<const Process*> readers, writers;
  };
  std::unordered_map<std::string, Ends> pipes_;  // by what stands in the brackets
};

}  // namespace fathom::trace

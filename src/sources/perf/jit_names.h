// SPDX-License-Identifier: MIT
// Names of code that processes made at run time, by process and time. What a process has not told
// yet gets a number, by which it is asked for again later.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "symbols/jit_code.h"

namespace fathom::sources {

// Whether a mapping's name is that of memory, so that code in it was made at run time.
[[nodiscard]] bool is_memory(std::string_view mapping);
// Whether a JIT tells of its code by a file of this name, which it maps for others to see.
[[nodiscard]] bool is_jitdump(std::string_view path);

// Times are those of the monotonic clock. One thread at a time.
class JitNames {
 public:
  using Answer = symbols::JitCode::Answer;

  // It begins, or begins anew as another program.
  void began(std::int32_t pid, std::int64_t time);
  void forked(std::int32_t parent, std::int32_t child, std::int64_t time);
  void mapped_dump(std::int32_t pid, std::string_view path, std::uint64_t inode);
  // It has ended, or becomes another program: the last chance to read what it says.
  void ended(std::int32_t pid);
  // Nobody looks any more.
  void stop();
  // Reads what processes wrote since the last time.
  void refresh();

  [[nodiscard]] Answer find(std::int32_t pid, std::uint64_t address, std::uint64_t time);
  // Of what find() says kLater of: a number, the same one as long as nothing new was read.
  std::uint32_t ask_later(std::int32_t pid, std::uint64_t address, std::uint64_t time);
  [[nodiscard]] Answer find_again(std::uint32_t number) const;
  // No number is needed any more.
  void forget_numbers();

 private:
  using Code = symbols::JitCode;
  struct Process {
    std::int64_t started = 0;
    std::shared_ptr<Code> code;     // none until it is needed
    std::shared_ptr<Code> parents;  // of the process that it was forked from,
    std::uint64_t forked_at = 0;    // then
  };
  struct Question {
    std::shared_ptr<Code> code;
    std::uint64_t address = 0;
    std::uint64_t first = 0;  // times
    std::uint64_t last = 0;
  };
  Process& process(std::int32_t pid);

  std::unordered_map<std::int32_t, Process> processes_;
  std::vector<Question> questions_;
  std::uint32_t first_number_ = 0;  // of questions_; a number is never used again
  // By code, its version, and address.
  std::map<std::tuple<const Code*, std::uint64_t, std::uint64_t>, std::uint32_t> numbers_;
};

}  // namespace fathom::sources

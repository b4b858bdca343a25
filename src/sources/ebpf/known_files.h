// SPDX-License-Identifier: MIT
// Paths of files by the numbers that the kernel's half gave them, in as much memory as there is for
// them: a user may meet names without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom::sources::ebpf {

// Part of a RowMaker: one thread at a time. A path without room is no failure; it is counted, and
// its file is one of trace::kOtherFiles.
class KnownFiles {
 public:
  // Bytes of paths that there is room for: of all, of one user.
  KnownFiles(std::size_t most, std::size_t most_of_user)
      : most_(most), most_of_user_(most_of_user) {}

  // `before` is its number under other names, which calls that are under way may still bear; 0:
  // none.
  void add(std::uint32_t number, std::string path, std::uint32_t user, std::uint32_t before);
  // nullptr where it has not come yet. Valid until the next call that changes something.
  [[nodiscard]] const std::string* find(std::uint32_t number) const;
  // These numbers mean no file any more, once the next ones come: calls that bear them are under
  // way.
  void forget(std::vector<std::uint32_t> numbers);
  // Numbers that others took the place of go, once that was told before a call of this that lies
  // `patience_ns` back: what bears them may be read only then.
  void forget_replaced(std::int64_t now_ns, std::int64_t patience_ns);

  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Paths without room, since the last time.
  std::int64_t take_nameless() { return std::exchange(nameless_, 0); }

 private:
  struct File {
    std::string path;  // "": one of the others
    std::uint32_t user = 0;
  };
  void erase(std::uint32_t number);
  [[nodiscard]] bool fits(std::size_t bytes, std::uint32_t user) const;

  std::size_t most_, most_of_user_;
  std::size_t bytes_ = 0;
  std::int64_t nameless_ = 0;
  std::unordered_map<std::uint32_t, File> files_;
  std::unordered_map<std::uint32_t, std::size_t> of_users_;  // bytes
  std::vector<std::uint32_t> old_;
  std::vector<std::uint32_t> newly_replaced_;                    // since forget_replaced was called
  std::deque<std::pair<std::int64_t, std::uint32_t>> replaced_;  // when it was called, numbers
};

}  // namespace fathom::sources::ebpf

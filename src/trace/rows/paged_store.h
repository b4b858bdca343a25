// SPDX-License-Identifier: MIT
// Bytes that may be more than memory should hold: pages that were not used for long lie in a file
// without a name. Where no such file can be had, they stay in memory. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"

namespace fathom::trace {

// Owns the file, which is gone with the process, however that ends.
class PagedStore {
 public:
  static constexpr std::size_t kPage = std::size_t{64} << 10;
  static constexpr std::size_t kMostInMemory = 256;  // pages

  // Where the file lies; "" takes the directory for temporary files.
  explicit PagedStore(std::string directory) : directory_(std::move(directory)) {}

  // Room for so many bytes, all zero, at most a page.
  std::uint64_t allocate(std::size_t bytes);
  // What lies there. Valid until others were asked for kSafe times.
  static constexpr std::uint64_t kSafe = 16;
  char* at(std::uint64_t place);

  [[nodiscard]] std::size_t pages() const { return pages_.size(); }
  [[nodiscard]] std::size_t pages_in_memory() const { return in_memory_.size(); }

 private:
  struct Page {
    std::unique_ptr<char[]> memory;  // nullptr: in the file
    std::uint64_t last_use = 0;
  };
  void make_room();
  bool put_away(std::size_t page);
  void bring(std::size_t page);
  bool open_file();

  std::string directory_;
  Fd file_;
  bool no_file_ = false;
  std::vector<Page> pages_;
  std::vector<std::size_t> in_memory_;
  std::size_t hand_ = 0;      // of a clock over in_memory_
  std::size_t used_ = kPage;  // of the last page
  std::uint64_t now_ = 0;
};

}  // namespace fathom::trace

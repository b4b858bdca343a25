// SPDX-License-Identifier: MIT
// run.header as whoever drains holds it: mapped, and there again when somebody removed or cut it.
// Processes that attach later map the new file; what all of them count is added up. One thread at a
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/shared_view.h"
#include "wire/spool.h"

namespace fathom::trace {

// Owns its mappings. Nothing fails: what the file does not take is left.
class RunPage {
 public:
  // `first` is the header as it was read.
  RunPage(std::string path, const fathom_run_header& first);

  // Looks whether the file is still there. The directory must exist.
  void keep();
  // Says that the recorder lives.
  void beat(std::int64_t realtime_ns);
  // Says why the recorder cannot write; "" if it can. Where the disk is full this page is all that
  // still takes a word.
  void tell_trouble(std::string_view why);
  // Takes this much off the run's account of pool bytes.
  void give_back(std::uint64_t bytes);

  [[nodiscard]] fathom_run_shared shared() const;  // what all pages count together
  [[nodiscard]] std::uint64_t refused() const;     // pools that could not be made

 private:
  struct Page {
    SharedView view;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    [[nodiscard]] fathom_run_header& header() const {
      return *static_cast<fathom_run_header*>(view.memory());
    }
    [[nodiscard]] const fathom_run_shared& shared() const {
      return *reinterpret_cast<const fathom_run_shared*>(
          static_cast<const std::uint8_t*>(view.memory()) + FATHOM_RUN_SHARED_OFFSET);
    }
  };
  bool map_file();
  void mend(int fd, Page& page) const;
  void make_again() const;

  std::string path_;
  fathom_run_header first_;
  std::uint32_t pools_made_ = 0;
  std::vector<Page> pages_;  // the last is the file's
};

}  // namespace fathom::trace

// SPDX-License-Identifier: MIT
// The folder that an application's outputs are copied into, by names that nobody vouches for:
// nothing is written outside it, no link or device is made, and there is an end to everything. What
// is left out is counted by its reason.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "containers/tar_reader.h"

namespace fathom::containers {

struct OutputBounds {
  std::uint64_t bytes = std::uint64_t{1} << 30U;  // in all
  std::uint64_t members = 100'000;                // files and directories, also left out
  std::size_t depth = 64;                         // of folders
};

struct OutputCounts {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint64_t> left_out = {};  // how many by reason
};

// One thread at a time. What was written stays when this is gone; what was begun and did not end is
// to be dropped by drop_unfinished().
class KeptOutputs : public TarConsumer {
 public:
  // Makes the folder, which must not exist.
  static Result<KeptOutputs> make(const std::string& folder, const OutputBounds& bounds = {});

  // What comes next lies below this path of it: "var/log".
  void go_below(std::string path) { below_ = std::move(path); }

  // kInvalid: more members than there may be.
  Status begin(const TarMember& member) override;
  Status content(std::string_view bytes) override;
  Status end() override;

  // Whether what was begun is being written.
  [[nodiscard]] bool wants_content() const { return file_.valid(); }
  // Whether this is the folder that all is copied into.
  [[nodiscard]] bool is_its_folder(const struct stat& facts) const;
  // What was begun and will not be ended goes.
  void drop_unfinished();
  void leave_out(const std::string& reason, std::uint64_t how_many = 1) {
    counts_.left_out[reason] += how_many;
  }
  [[nodiscard]] const OutputCounts& counts() const { return counts_; }

 private:
  KeptOutputs(Fd folder, const OutputBounds& bounds)
      : folder_(std::move(folder)), bounds_(bounds) {}
  Status begin_file(const std::vector<std::string_view>& parts, std::uint64_t size);

  Fd folder_;
  OutputBounds bounds_;
  std::string below_;
  OutputCounts counts_;
  std::uint64_t members_ = 0;
  Fd parent_, file_;  // of the member that is being written; none: it is left out
  std::string name_;
  std::uint64_t size_ = 0;
};

// "links (2), too large (1)"; "": nothing was left out.
[[nodiscard]] std::string left_out_words(const OutputCounts& counts);

}  // namespace fathom::containers

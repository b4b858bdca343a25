// SPDX-License-Identifier: MIT
// Tells a damaged recording from a question that is wrong. The database fails in the middle of an
// answer where bytes inside a file are not what was written, in words that name no file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {

// Keeps the files of recordings for as long as somebody may ask. May be copied, and used by any
// thread.
class DamageFinder {
 public:
  explicit DamageFinder(const std::vector<trace::Part>& parts);

  // An error of the database that may come from bytes of a file has all files read, for at most
  // ten seconds: kCorrupt, with the recording, its damaged files and the database's words,
  // where some cannot be read. Any other error is as it was.
  [[nodiscard]] Error explained(Error error) const;

 private:
  struct Source {
    std::string recording;
    trace::DataFile file;
  };
  std::vector<Source> sources_;
};

}  // namespace fathom::analysis

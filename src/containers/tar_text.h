// SPDX-License-Identifier: MIT
// Files as a tar (ustar), which engines take for the content of a container.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::containers {

// All of it in memory: what is put into a container is a few small files.
class TarText {
 public:
  // `path` as below the root: "app/profiler.sh". kInvalid: it is longer than a header has room for.
  Status add_directory(const std::string& path);
  Status add_file(const std::string& path, std::string_view content, unsigned mode);
  // The whole of it, with its end.
  [[nodiscard]] std::string take() &&;

 private:
  Status add_header(const std::string& path, char kind, std::size_t size, unsigned mode);
  std::string text_;
};

}  // namespace fathom::containers

// SPDX-License-Identifier: MIT
// Which program a process was at a time. Viewers know one name for a process, that of the last;
// what an earlier one did (the shell that forked and became `sort`) is told apart by its name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/store.h"
#include "render/export/event_stream.h"

namespace fathom::convert {

// One thread at a time. Memory: what processes were several programs.
class Programs {
 public:
  // `where` selects rows of view `processes`, as those that give processes their names.
  Status load(analysis::Store& store, const std::string& where);

  // Where the process was another program then than the one that it is called by: its name. Valid
  // as long as this is.
  [[nodiscard]] std::string_view earlier(std::string_view host, const render::ExportNumber& pid,
                                         std::int64_t ts);

 private:
  struct Image {
    std::int64_t start = 0;
    std::string name;
  };
  using Images = std::vector<Image>;  // in order of time
  [[nodiscard]] const Images* images_of(std::string_view host, std::int64_t pid) const;

  std::map<std::string, std::map<std::int64_t, Images>, std::less<>> hosts_;
  // Rows of a process come one after the other.
  std::string host_;
  render::ExportNumber pid_;
  const Images* images_ = nullptr;
};

}  // namespace fathom::convert

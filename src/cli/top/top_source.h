// SPDX-License-Identifier: MIT
// What `fathom top` watches: a recording that is being made, or a server.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/top/page.h"

namespace fathom::cli::top {

// One thread at a time.
class TopSource {
 public:
  virtual ~TopSource() = default;

  // Asks for what is new. `inside`: what the next page will be of (Page::ids), "" for everything.
  virtual Status look(const std::string& inside) = 0;
  // Whether looks so far tell rates; the first one cannot.
  [[nodiscard]] virtual bool has_rates() const = 0;
  // What was seen last: of everything, or of what Enter went into (Page::ids).
  [[nodiscard]] virtual Page page(const std::string& inside) const = 0;

 protected:
  TopSource() = default;
  TopSource(const TopSource&) = default;
  TopSource& operator=(const TopSource&) = default;
};

// A recording directory that is being made.
Result<std::unique_ptr<TopSource>> watch_recording(const std::string& directory);

}  // namespace fathom::cli::top

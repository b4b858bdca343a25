// SPDX-License-Identifier: MIT
// Text that stands further behind in a file than what is made after it: kept in memory while it is
// short, in a nameless file when it grows.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"
#include "render/export/byte_sink.h"

namespace fathom::render {

// One thread at a time. kIo where the temporary file cannot be made or written; the text is lost
// then, and so is the export.
class TextSpill {
 public:
  [[nodiscard]] std::string& text() { return text_; }
  // Call between two items.
  Status spill_if_large();
  // Everything in its order, and empty again.
  Status move_to(SinkBuffer& out);

 private:
  static constexpr std::size_t kLarge = std::size_t{1} << 20;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string text_;
  std::unique_ptr<std::FILE, Close> file_;
};

// A JSON array in the making.
class ArraySpill {
 public:
  // Where the next item goes.
  std::string& item() {
    if (size_++ > 0) spill_.text() += ',';
    return spill_.text();
  }
  Status spill_if_large() { return spill_.spill_if_large(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  Status move_to(SinkBuffer& out) {
    size_ = 0;
    out.text() += '[';
    FATHOM_TRY(spill_.move_to(out));
    out.text() += ']';
    return out.flush_if_large();
  }

 private:
  TextSpill spill_;
  std::size_t size_ = 0;
};

}  // namespace fathom::render

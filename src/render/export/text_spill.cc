// SPDX-License-Identifier: MIT
// Moves text to a temporary file beyond a limit, for formats in which a part must be complete
// before its length or its neighbours are known.
#include "render/export/text_spill.h"

#include <vector>

namespace fathom::render {
namespace {

Error trouble() { return {Code::kIo, "cannot write a temporary file", "make room in /tmp"}; }

}  // namespace

Status TextSpill::spill_if_large() {
  if (text_.size() < kLarge) return {};
  if (file_ == nullptr) file_.reset(std::tmpfile());
  if (file_ == nullptr || std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size())
    return trouble();
  text_.clear();
  return {};
}

Status TextSpill::move_to(SinkBuffer& out) {
  if (file_ != nullptr) {
    std::vector<char> piece(kLarge);
    // Not rewind(), which forgets that the last bytes found no room.
    if (std::fseek(file_.get(), 0, SEEK_SET) != 0) return trouble();
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file_.get())) {
      out.text().append(piece.data(), got);
      FATHOM_TRY(out.flush_if_large());
    }
    if (std::ferror(file_.get()) != 0) return trouble();
    file_.reset();
  }
  out.text() += text_;
  text_.clear();
  return out.flush_if_large();
}

}  // namespace fathom::render

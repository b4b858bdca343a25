// SPDX-License-Identifier: MIT
// A state machine over bytes in pieces of any size: a frame's header may arrive in several pieces,
// and no frame is kept whole. With a terminal there are no frames, and bytes pass through.
#include "containers/output_splitter.h"

#include <algorithm>

namespace fathom::containers {

Status OutputSplitter::begin_frame() {
  held_ = 0;
  const bool is_frame = header_[0] <= 2 && header_[1] == 0 && header_[2] == 0 && header_[3] == 0;
  if (!is_frame) return Error{Code::kCorrupt, "the engine's stream contains unexpected data", ""};
  stream_ = header_[0] == 2 ? Stream::kErr : Stream::kOut;
  left_ = 0;
  for (std::size_t i = 4; i < kHeader; ++i) left_ = left_ << 8U | header_[i];
  return {};
}

Status OutputSplitter::feed(std::string_view bytes) {
  if (is_raw_) {
    if (!bytes.empty()) take_(Stream::kOut, bytes);
    return {};
  }
  while (!bytes.empty()) {
    if (left_ > 0) {
      const std::string_view piece = bytes.substr(0, static_cast<std::size_t>(left_));
      take_(stream_, piece);
      left_ -= piece.size();
      bytes.remove_prefix(piece.size());
      continue;
    }
    header_[held_++] = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (held_ == kHeader) FATHOM_TRY(begin_frame());
  }
  return {};
}

}  // namespace fathom::containers

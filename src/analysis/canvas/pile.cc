// SPDX-License-Identifier: MIT
// Bytes that only grow, and are then looked at in any order: a buffer that is small for most
// recordings, else a file without a name, which is mapped when it is complete. Anonymous memory
// would be swapped; pages of a file are simply let go (`rest`). The file is made when the first
// buffer is full.
#include "analysis/canvas/pile.h"

#include <string_view>

namespace fathom::analysis {

std::uint64_t Pile::append(std::span<const std::byte> bytes) {
  const std::uint64_t place = size_;
  if (buffer_.size() + bytes.size() > most_ && !buffer_.empty()) flush();
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
  return place;
}

// A failure waits for seal(): whoever appends a million times does not ask each time.
void Pile::flush() {
  if (failure_) failure_ = write(buffer_);
  buffer_.clear();
}

Status Pile::write(std::span<const std::byte> bytes) {
  if (!file_) {
    FATHOM_ASSIGN(file_, File::unnamed(scratch_directory()));
  }
  return file_->write_all(
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Status Pile::seal() {
  if (file_ && !buffer_.empty()) flush();
  FATHOM_TRY(std::move(failure_));
  begin_ = buffer_.data();
  if (!file_) return {};
  FATHOM_ASSIGN(view_, SharedView::map(file_->fd(), size_, false));
  begin_ = static_cast<const std::byte*>(view_.memory());
  file_.reset();
  std::vector<std::byte>().swap(buffer_);
  return {};
}

}  // namespace fathom::analysis

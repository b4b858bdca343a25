// SPDX-License-Identifier: MIT
// The file is made when the first buffer is full: most recordings need none.
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

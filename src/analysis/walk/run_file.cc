// SPDX-License-Identifier: MIT
// A nameless temporary file, made only when something has to be spilled: most passes fit into
// memory.
#include "analysis/walk/run_file.h"

namespace fathom::analysis {

Status RunFile::append(std::span<const std::byte> bytes) {
  if (!file_) {
    FATHOM_ASSIGN(file_, File::unnamed(scratch_directory()));
  }
  FATHOM_TRY(file_->write_all({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  size_ += bytes.size();
  return {};
}

Status RunFile::read(std::uint64_t from, std::span<std::byte> bytes) const {
  if (bytes.empty()) return {};
  FATHOM_ASSIGN(const std::size_t got, file_->pread_some(bytes, from));
  if (got == bytes.size()) return {};
  return Error{Code::kIo, "a temporary file is shorter than what was written to it", ""};
}

}  // namespace fathom::analysis

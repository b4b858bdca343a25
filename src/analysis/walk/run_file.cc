// SPDX-License-Identifier: MIT
#include "analysis/walk/run_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/ids.h"

namespace fathom::analysis {

std::string spill_directory() {
  const char* wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return wanted != nullptr && *wanted == '/' ? wanted : "/var/tmp";
}

Status RunFile::append(std::span<const std::byte> bytes) {
  if (!file_) {
    const std::string path = join_path(spill_directory(), "fathom-" + random_id());
    FATHOM_ASSIGN(file_, File::open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
    ::unlink(path.c_str());
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

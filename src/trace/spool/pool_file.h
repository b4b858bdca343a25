// SPDX-License-Identifier: MIT
// A pool as a reader sees it: read, never mapped. Whoever may write the file may also cut it, and a
// mapping that was cut under a reader ends it with SIGBUS. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/result.h"
#include "wire/spool.h"

namespace fathom::trace {

// Owns a descriptor that comes and goes (close). A file that is cut, exchanged or removed meanwhile
// reads as if it ended there: false, never an Error after open().
class PoolFile {
 public:
  // kNotFound: not ready yet, or gone. kCorrupt, kUnsupported: see check_pool.
  static Result<PoolFile> open(const Directory& spool, std::string_view name);

  [[nodiscard]] const fathom_pool_header& header() const { return header_; }  // as it was at open()
  [[nodiscard]] const fathom_run_shared& shared() const { return shared_; }   // the same
  [[nodiscard]] std::int64_t changed_realtime_ns() const { return changed_; }  // the same
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t name_hash() const { return name_hash_; }
  [[nodiscard]] std::uint32_t count() const { return header_.segment_count; }

  // The head of a segment as the newest version has it; false where the file is gone or ends before
  // it. What was read for the one before may serve again, until close().
  bool read_segment(std::uint32_t index, fathom_segment& segment) const;
  // Closes the file until it is needed again: a run may have more pools than a process descriptors.
  void close() const;

  // How many bytes of records there are, as `progress` of a segment says, clamped to the segment.
  [[nodiscard]] std::size_t records_size(std::uint64_t progress) const;
  // So many bytes of records; false where the file has not that many.
  bool read_records(std::uint32_t index, std::size_t size, std::vector<std::uint8_t>& bytes) const;

 private:
  PoolFile(Directory spool, std::string_view name, const fathom_pool_header& header);
  Status read_page(const File& file);
  [[nodiscard]] const File* file() const;  // nullptr: it is gone
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t index) const;

  Directory spool_;
  std::string name_;
  std::uint64_t name_hash_;
  fathom_pool_header header_;
  fathom_run_shared shared_{};
  std::int64_t changed_ = 0;
  mutable std::optional<File> file_;
  mutable std::string window_;
  mutable std::uint64_t window_from_ = 0;
};

}  // namespace fathom::trace

// SPDX-License-Identifier: MIT
// Reads pools without mapping them, for readers that must not depend on SIGBUS handling; also
// translates the segment heads of older versions.
#include "trace/spool/pool_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

fathom_segment current_head(const fathom_segment& old) {
  fathom_segment_2 head{};
  std::memcpy(&head, &old, sizeof head);
  fathom_segment now = old;
  now.claim = head.state | std::uint64_t{head.owner_pid} << 32;
  now.generation = head.generation;
  now.owner_tid = head.owner_tid;
  return now;
}

}  // namespace

PoolFile::PoolFile(Directory spool, std::string_view name, const fathom_pool_header& header)
    : spool_(std::move(spool)), name_(name), name_hash_(fnv1a(name)), header_(header) {}

Result<PoolFile> PoolFile::open(const Directory& spool, std::string_view name) {
  FATHOM_ASSIGN(const File file, spool.read(name));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size < FATHOM_POOL_HEADER_SIZE)
    return Error{Code::kNotFound, file.path() + " is not ready yet", ""};
  fathom_pool_header header{};
  FATHOM_ASSIGN(const std::size_t got,
                file.pread_some(std::as_writable_bytes(std::span(&header, 1)), 0));
  if (got != sizeof header) return Error{Code::kCorrupt, file.path() + " is cut off", ""};
  FATHOM_TRY(check_pool(header, size, file.path()));
  PoolFile pool(spool, name, header);
  FATHOM_TRY(pool.read_page(file));
  return pool;
}

Status PoolFile::read_page(const File& file) {
  struct stat facts {};
  if (::fstat(file.fd(), &facts) == 0)
    changed_ = facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec;
  FATHOM_ASSIGN(const std::string bytes,
                file.read_range(FATHOM_POOL_SHARED_OFFSET, sizeof shared_));
  if (bytes.size() == sizeof shared_) std::memcpy(&shared_, bytes.data(), sizeof shared_);
  return {};
}

std::uint64_t PoolFile::offset_of(std::uint32_t index) const {
  return FATHOM_POOL_HEADER_SIZE + std::uint64_t{index} * header_.segment_size;
}

const File* PoolFile::file() const {
  if (!file_) {
    Result<File> opened = spool_.read(name_);
    if (!opened) return nullptr;
    file_.emplace(std::move(opened).value());
  }
  return &*file_;
}

void PoolFile::close() const {
  file_.reset();
  window_ = {};
}

bool PoolFile::read_segment(std::uint32_t index, fathom_segment& segment) const {
  constexpr std::size_t kWindow = 4096;
  const std::uint64_t at = offset_of(index);
  if (at < window_from_ || at + sizeof segment > window_from_ + window_.size()) {
    const File* opened = file();
    Result<std::string> read = opened != nullptr ? opened->read_range(at, kWindow) : std::string();
    window_ = read ? std::move(read).value() : "";
    window_from_ = at;
    if (window_.size() < sizeof segment) return false;
  }
  std::memcpy(&segment, window_.data() + (at - window_from_), sizeof segment);
  if (header_.version < 3) segment = current_head(segment);
  // The records that it tells of are read behind it.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return true;
}

std::size_t PoolFile::records_size(std::uint64_t progress) const {
  const std::uint64_t end = std::clamp<std::uint64_t>(
      progress & UINT32_MAX, FATHOM_SEGMENT_HEADER_SIZE, header_.segment_size);
  return static_cast<std::size_t>(end - FATHOM_SEGMENT_HEADER_SIZE);
}

bool PoolFile::read_records(std::uint32_t index, std::size_t size,
                            std::vector<std::uint8_t>& bytes) const {
  const File* opened = file();
  bytes.resize(opened != nullptr ? size : 0);
  const Result<std::size_t> got =
      opened == nullptr ? Result<std::size_t>(std::size_t{0})
                        : opened->pread_some(std::as_writable_bytes(std::span(bytes)),
                                             offset_of(index) + FATHOM_SEGMENT_HEADER_SIZE);
  bytes.resize(got ? *got : 0);
  return bytes.size() == size && opened != nullptr;
}

}  // namespace fathom::trace

// SPDX-License-Identifier: MIT
// The half of spool.h that deals with a pool: its file may be anything, at any moment.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/os_error.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kLargestSegment = 1U << 20;
constexpr std::uint32_t kMostSegments = 1U << 16;
// Fills of a segment that lost its header have numbers that none before had.
constexpr std::uint32_t kMendedGeneration = 1U << 31;
constexpr int kNoSurprise = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

std::uint64_t needed_bytes(const fathom_pool_header& header) {
  return FATHOM_POOL_HEADER_SIZE + std::uint64_t{header.segment_size} * header.segment_count;
}

Error bad_pool(const std::string& path, const std::string& what) {
  return {Code::kCorrupt, path + " " + what, ""};
}

std::int64_t birth_of(int fd) {
  struct statx times {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &times) != 0) return 0;
  if ((times.stx_mask & STATX_BTIME) == 0) return 0;
  return times.stx_btime.tv_sec * 1000000000 + times.stx_btime.tv_nsec;
}

}  // namespace

Status check_pool(const fathom_pool_header& header, std::uint64_t size, const std::string& path) {
  if (header.magic == 0) return Error{Code::kNotFound, path + " is not ready yet", ""};
  if (header.magic != FATHOM_POOL_MAGIC) return bad_pool(path, "is not a pool");
  if (header.version > FATHOM_WIRE_VERSION) {
    return Error{Code::kUnsupported, path + " was made by a newer Fathom", "update fathom"};
  }
  const bool sane = header.segment_size > FATHOM_SEGMENT_HEADER_SIZE &&
                    header.segment_size <= kLargestSegment && header.segment_size % 8 == 0 &&
                    header.segment_count <= kMostSegments;
  if (!sane) return bad_pool(path, "has a damaged header");
  if (needed_bytes(header) > size) return bad_pool(path, "is cut off");
  return {};
}

Result<Pool> Pool::open(const std::string& path, bool writable) {
  FATHOM_ASSIGN(const Directory spool, Directory::open(std::string(dir_name(path))));
  return open(spool, base_name(path), writable);
}

Result<Pool> Pool::open(const Directory& spool, std::string_view name, bool writable) {
  // A program that changed its user made pools as that user.
  FATHOM_ASSIGN(const File file,
                spool.open_file(name, writable ? O_RDWR : O_RDONLY, 0, Directory::Owner::kAnybody));
  const std::string& path = file.path();
  struct stat facts {};
  if (::fstat(file.fd(), &facts) != 0) return os_error(errno, "stat " + path);
  fathom_pool_header header{};
  FATHOM_ASSIGN(const std::size_t got,
                file.pread_some(std::as_writable_bytes(std::span(&header, 1)), 0));
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (got < sizeof header || size < FATHOM_POOL_HEADER_SIZE)
    return Error{Code::kNotFound, path + " is not ready yet", ""};
  FATHOM_TRY(check_pool(header, size, path));
  // No more than it needs: a file may be made as large as somebody likes.
  FATHOM_ASSIGN(SharedView view, SharedView::map(file.fd(), needed_bytes(header), writable));
  // The guest stores the magic last: whoever sees it here, and not only in the file, sees the rest.
  const auto* mapped = static_cast<const fathom_pool_header*>(view.memory());
  (void)__atomic_load_n(&mapped->magic, __ATOMIC_ACQUIRE);
  std::memcpy(&header, mapped, sizeof header);
  FATHOM_TRY(check_pool(header, view.size(), path));
  Pool pool(path, facts, header, std::move(view));
  pool.made_ = birth_of(file.fd());
  return pool;
}

Pool::Pool(std::string path, const struct stat& file, const fathom_pool_header& header,
           SharedView view)
    : path_(std::move(path)),
      view_(std::move(view)),
      device_(file.st_dev),
      inode_(file.st_ino),
      first_(header),
      segment_size_(header.segment_size),
      count_(header.segment_count),
      old_heads_(header.version < 3),
      name_hash_(fnv1a(base_name(path_))) {}

fathom_segment& Pool::segment(std::uint32_t index) const {
  auto* base = static_cast<std::uint8_t*>(view_.memory()) + FATHOM_POOL_HEADER_SIZE;
  return *reinterpret_cast<fathom_segment*>(base + std::size_t{index} * segment_size_);
}

Pid Pool::creator() const {
  return {__atomic_load_n(&header().creator_pid, __ATOMIC_ACQUIRE),
          __atomic_load_n(&header().creator_space, __ATOMIC_ACQUIRE)};
}

fathom_run_shared Pool::shared() const {
  fathom_run_shared shared{};
  std::memcpy(&shared, static_cast<const std::uint8_t*>(view_.memory()) + FATHOM_POOL_SHARED_OFFSET,
              sizeof shared);
  return shared;
}

namespace {
constexpr std::uint64_t kState = UINT32_MAX;  // in the first word of a segment, versions 1 and 2

fathom_segment_2& old_head(fathom_segment& segment) {
  return reinterpret_cast<fathom_segment_2&>(segment);
}
}  // namespace

Pool::Claim Pool::claim(std::uint32_t index) const {
  const std::uint64_t word = __atomic_load_n(&segment(index).claim, __ATOMIC_SEQ_CST);
  if (!old_heads_) return Claim::of(word);
  const std::uint32_t pid = __atomic_load_n(&old_head(segment(index)).owner_pid, __ATOMIC_ACQUIRE);
  return {word, static_cast<std::uint32_t>(word & kState), pid, 0};
}

std::uint32_t& Pool::generation_of(std::uint32_t index) const {
  fathom_segment& head = segment(index);
  return old_heads_ ? old_head(head).generation : head.generation;
}

std::uint32_t Pool::generation(std::uint32_t index) const {
  return __atomic_load_n(&generation_of(index), __ATOMIC_ACQUIRE);
}

bool Pool::take_over(std::uint32_t index, const Claim& found) const {
  std::uint64_t word = found.word;
  const std::uint64_t rest = old_heads_ ? word & ~kState : 0;
  return __atomic_compare_exchange_n(&segment(index).claim, &word, rest | FATHOM_SEGMENT_FULL,
                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

// The owner of a free segment is nobody, and its old records are no records: a thread that claims
// it finds it so.
void Pool::free(std::uint32_t index) const {
  fathom_segment& head = segment(index);
  __atomic_store_n(&head.owner_key, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&head.progress, FATHOM_SEGMENT_HEADER_SIZE, __ATOMIC_RELAXED);
  std::uint64_t word = FATHOM_SEGMENT_FREE;
  if (old_heads_) {
    __atomic_store_n(&old_head(head).owner_pid, 0, __ATOMIC_RELAXED);
    word |= std::uint64_t{old_head(head).generation + 1} << 32;
  } else {
    __atomic_store_n(&head.generation, head.generation + 1, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&head.claim, word, __ATOMIC_RELEASE);
}

std::span<const std::uint8_t> Pool::records(std::uint32_t index, std::uint64_t committed) const {
  const std::uint64_t end =
      std::clamp<std::uint64_t>(committed & UINT32_MAX, FATHOM_SEGMENT_HEADER_SIZE, segment_size_);
  const auto* base = reinterpret_cast<const std::uint8_t*>(&segment(index));
  return {base + FATHOM_SEGMENT_HEADER_SIZE,
          static_cast<std::size_t>(end - FATHOM_SEGMENT_HEADER_SIZE)};
}

Pool::FileState Pool::file_state() const {
  struct stat now {};
  if (::lstat(path_.c_str(), &now) != 0 || now.st_dev != device_ || now.st_ino != inode_)
    return FileState::kGone;
  return static_cast<std::uint64_t>(now.st_size) < view_.size() ? FileState::kCut
                                                                : FileState::kThere;
}

std::int64_t Pool::changed_realtime_ns() const {
  struct stat now {};
  if (::lstat(path_.c_str(), &now) != 0) return 0;
  return now.st_mtim.tv_sec * 1000000000 + now.st_mtim.tv_nsec;
}

bool Pool::mend() {
  const Fd fd(::open(path_.c_str(), O_RDWR | kNoSurprise));
  struct stat now {};
  if (!fd.valid() || ::fstat(fd.get(), &now) != 0 || now.st_dev != device_ || now.st_ino != inode_)
    return false;
  const auto size = static_cast<off_t>(view_.size());
  // A hole would do no better than what is gone once the disk is full.
  if (::fallocate(fd.get(), 0, 0, size) != 0 && ::ftruncate(fd.get(), size) != 0) return false;
  if (!view_.map_again(fd.get())) return false;
  mend_header();
  return true;
}

// Threads that are in a segment stay there until it is full, and then look elsewhere.
void Pool::mend_header() {
  fathom_pool_header& now = header();
  __atomic_store_n(&now.state, FATHOM_POOL_CLOSED, __ATOMIC_SEQ_CST);
  if (now.magic != FATHOM_POOL_MAGIC) {
    fathom_pool_header again = first_;
    again.state = FATHOM_POOL_CLOSED;
    std::memcpy(&now, &again, sizeof again);
  }
  for (std::uint32_t index = 0; index < count_; index++) {
    std::uint32_t none = 0;
    (void)__atomic_compare_exchange_n(&generation_of(index), &none, kMendedGeneration, false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
}

bool Pool::remove_file() const {
  return file_state() != FileState::kGone && ::unlink(path_.c_str()) == 0;
}

}  // namespace fathom::trace

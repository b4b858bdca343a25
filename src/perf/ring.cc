// SPDX-License-Identifier: MIT
// The kernel releases data_head after the bytes, and must see that they were read before data_tail
// moves past them: an acquire and a release for each batch. What lies in the ring is checked all
// the same: a record that is longer than what there is ends the batch, and counts as damage.
#include "perf/ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/os_error.h"
#include "base/privilege.h"

namespace fathom::perf {
namespace {

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::uint64_t head_of(const perf_event_mmap_page& page) {
  return __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
}

}  // namespace

std::size_t RingReader::waiting() const {
  return static_cast<std::size_t>(head_of(*page_) - page_->data_tail);
}

void RingReader::copy_out(std::uint64_t position, std::span<std::byte> to) const {
  const auto at = static_cast<std::size_t>(position & (data_.size() - 1));
  const std::size_t first = std::min(to.size(), data_.size() - at);
  std::memcpy(to.data(), data_.data() + at, first);
  std::memcpy(to.data() + first, data_.data(), to.size() - first);
}

// Where it lies, or, if it goes over the ring's end, as a copy in one piece.
std::span<const std::byte> RingReader::record_at(std::uint64_t position, std::size_t size) {
  const auto at = static_cast<std::size_t>(position & (data_.size() - 1));
  if (at + size <= data_.size()) return data_.subspan(at, size);
  joined_.resize((size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  const std::span<std::byte> whole = std::as_writable_bytes(std::span(joined_)).first(size);
  copy_out(position, whole);
  return whole;
}

std::size_t RingReader::drain(const TakeRecord& take) {
  const std::uint64_t begin = page_->data_tail;
  const std::uint64_t end = head_of(*page_);
  const bool is_sound = end - begin <= data_.size();
  std::uint64_t at = begin;
  while (is_sound && end - at >= sizeof(perf_event_header)) {
    perf_event_header header{};
    copy_out(at, std::as_writable_bytes(std::span(&header, 1)));
    if (header.size < sizeof header || header.size > end - at) break;
    take(record_at(at, header.size));
    at += header.size;
  }
  if (at != end) ++damaged_;
  __atomic_store_n(&page_->data_tail, end, __ATOMIC_RELEASE);
  return static_cast<std::size_t>(at - begin);
}

Result<Ring> Ring::map(int event, std::size_t bytes) {
  const std::size_t page = page_size();
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  std::size_t data = std::bit_ceil(std::clamp(bytes, page, kMost));
  // What a user may lock is shared by all his rings: a smaller one is better than none.
  for (;; data /= 2) {
    const std::size_t length = page + data;
    void* const memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory != MAP_FAILED) {
      const auto* const first = static_cast<const std::byte*>(memory) + page;
      return Ring(memory, length,
                  RingReader(static_cast<perf_event_mmap_page*>(memory), {first, data}));
    }
    const bool is_limit = errno == EPERM || errno == EAGAIN || errno == ENOMEM;
    if (!is_limit || data <= page) break;
  }
  if (errno == EPERM)
    return Error{Code::kDenied, "the memory that this user may lock for rings is used up",
                 as_root("sysctl kernel.perf_event_mlock_kb=4096")};
  return os_error(errno, "map a ring of performance events");
}

Ring& Ring::operator=(Ring&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  memory_ = std::exchange(other.memory_, nullptr);
  length_ = other.length_;
  reader_ = std::move(other.reader_);
  return *this;
}

void Ring::unmap() {
  if (memory_ != nullptr) ::munmap(memory_, length_);
  memory_ = nullptr;
}

}  // namespace fathom::perf

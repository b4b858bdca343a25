// SPDX-License-Identifier: MIT
// The ring that the kernel writes an event's records into. One thread reads it.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::perf {

// One record with its header, aligned to 8 bytes; valid during the call alone.
using TakeRecord = std::function<void(std::span<const std::byte> record)>;

// Reads a ring in memory that somebody else mapped.
class RingReader {
 public:
  // `data` has a power of two of bytes.
  RingReader(perf_event_mmap_page* page, std::span<const std::byte> data)
      : page_(page), data_(data) {}

  // Hands on the records that are there now, in their order, and frees their room at the end: one
  // look at the kernel's position and one word to it for the whole batch. Returns their bytes.
  std::size_t drain(const TakeRecord& take);
  // Bytes that wait.
  [[nodiscard]] std::size_t waiting() const;
  // Times that a header made no sense and all that waited was dropped.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  [[nodiscard]] std::size_t bytes() const { return data_.size(); }

 private:
  std::span<const std::byte> record_at(std::uint64_t position, std::size_t size);
  void copy_out(std::uint64_t position, std::span<std::byte> to) const;

  perf_event_mmap_page* page_;
  std::span<const std::byte> data_;
  std::vector<std::uint64_t> joined_;  // a record whose end is at the ring's beginning
  std::uint64_t damaged_ = 0;
};

// A ring of its own. The event must stay open while it is used.
class Ring {
 public:
  // At least `bytes` of data, in a power of two of pages; less where this user may not lock so much
  // memory. An Error has the line that allows more.
  static Result<Ring> map(int event, std::size_t bytes);

  Ring(Ring&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        length_(other.length_),
        reader_(std::move(other.reader_)) {}
  Ring& operator=(Ring&& other) noexcept;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { unmap(); }

  std::size_t drain(const TakeRecord& take) { return reader_.drain(take); }
  // In a child: the memory stayed the parent's, and what is there now is not ours to give back.
  void forget() { memory_ = nullptr; }
  [[nodiscard]] std::size_t waiting() const { return reader_.waiting(); }
  [[nodiscard]] std::uint64_t damaged() const { return reader_.damaged(); }
  [[nodiscard]] std::size_t bytes() const { return reader_.bytes(); }
  // Factors of the CPU's counter, and what else the kernel shows there.
  [[nodiscard]] const perf_event_mmap_page& page() const {
    return *static_cast<const perf_event_mmap_page*>(memory_);
  }

 private:
  Ring(void* memory, std::size_t length, RingReader reader)
      : memory_(memory), length_(length), reader_(std::move(reader)) {}
  void unmap();

  void* memory_;
  std::size_t length_;
  RingReader reader_;
};

}  // namespace fathom::perf

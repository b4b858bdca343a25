// SPDX-License-Identifier: MIT
// Memory of another process, which goes on while it is read: what was read may be torn, and what it
// points to may be gone.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace fathom::sources {

// One thread. No read fails with an Error: whoever walks through it checks what it finds, and
// stops.
class ForeignMemory {
 public:
  ForeignMemory() = default;
  ForeignMemory(const ForeignMemory&) = delete;
  ForeignMemory& operator=(const ForeignMemory&) = delete;
  virtual ~ForeignMemory() = default;

  // False: not all of it is there, or it may not be read.
  virtual bool read(std::uint64_t address, std::span<std::byte> to) = 0;

  template <class Number>
  std::optional<Number> number(std::uint64_t address) {
    static_assert(std::is_trivially_copyable_v<Number>);
    std::array<std::byte, sizeof(Number)> bytes;
    if (!read(address, bytes)) return std::nullopt;
    Number value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  // An address; nothing where it is null, too.
  std::optional<std::uint64_t> pointer(std::uint64_t address) {
    const std::optional<std::uint64_t> value = number<std::uint64_t>(address);
    return value && *value != 0 ? value : std::nullopt;
  }
  std::optional<std::string> text(std::uint64_t address, std::size_t size) {
    std::string bytes(size, '\0');
    if (!read(address, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
    return bytes;
  }
};

// Reads whole pages and keeps them until forget(), so that a walk over many small objects is few
// system calls. One thread at a time.
class ProcessMemory final : public ForeignMemory {
 public:
  explicit ProcessMemory(pid_t process) : process_(process) {}

  bool read(std::uint64_t address, std::span<std::byte> to) override;
  // What is read next is as it is then.
  void forget() { pages_.clear(); }
  // Whether the kernel said that this user may not.
  [[nodiscard]] bool is_denied() const { return denied_; }

 private:
  static constexpr std::size_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;

  // nullptr: cannot be read.
  const Page* page(std::uint64_t number);

  pid_t process_;
  bool denied_ = false;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace fathom::sources

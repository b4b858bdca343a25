// SPDX-License-Identifier: MIT
// Finds the end of Go's stack check by its few known instruction sequences. The code before it runs
// again after the stack was made larger, so a probe there would count a call twice.
#include "sources/ebpf/go_code.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "base/files.h"

namespace fathom::sources::ebpf {
namespace {

constexpr std::size_t kLongest = 64;

#if defined(__aarch64__)

// ldr x16, [x28, #16]; then the comparison; then b.ls to where the stack is made larger.
std::size_t find_check(std::string_view code) {
  constexpr std::uint32_t kLoadLimit = 0xf9400b90;
  constexpr std::size_t kWord = 4;
  bool asks = false;
  for (std::size_t at = 0; at + kWord <= code.size(); at += kWord) {
    std::uint32_t word = 0;
    std::memcpy(&word, code.data() + at, kWord);
    asks |= word == kLoadLimit;
    const bool branches = (word & 0xff00001fU) == 0x54000009U;
    if (asks && branches) return at + kWord;
  }
  return 0;
}

#else

struct Instruction {
  std::string_view begin;
  std::size_t length;
};

// What may stand before the comparison: the goroutine from where the thread has it (before
// Go 1.17), and where the stack would end, of functions that need more of it.
constexpr Instruction kBefore[] = {
    {{"\x64\x48\x8b\x0c\x25", 5}, 9},  // mov %fs:-8, %rcx
    {{"\x4c\x8d\x64\x24", 4}, 5},      // lea -8(%rsp), %r12
    {{"\x4c\x8d\xa4\x24", 4}, 8},
    {{"\x48\x8d\x44\x24", 4}, 5},  // lea -8(%rsp), %rax
    {{"\x48\x8d\x84\x24", 4}, 8},
    {{"\x49\x89\xe4", 3}, 3},  // mov %rsp, %r12
    {{"\x49\x81\xec", 3}, 7},  // sub $…, %r12
    {{"\x0f\x82", 2}, 6},      // jb: it would end before the first address
};
// cmp 16(goroutine), …
constexpr Instruction kCompare[] = {
    {{"\x49\x3b\x66\x10", 4}, 4},
    {{"\x4d\x3b\x66\x10", 4}, 4},
    {{"\x48\x3b\x61\x10", 4}, 4},
    {{"\x48\x3b\x41\x10", 4}, 4},
};
constexpr Instruction kBranch[] = {{{"\x76", 1}, 2}, {{"\x0f\x86", 2}, 6}};  // jbe

template <std::size_t kCount>
std::optional<std::size_t> length_of(std::string_view code, const Instruction (&known)[kCount]) {
  for (const Instruction& one : known)
    if (code.starts_with(one.begin) && code.size() >= one.length) return one.length;
  return std::nullopt;
}

std::size_t find_check(std::string_view code) {
  std::size_t at = 0;
  while (const auto length = length_of(code.substr(at), kBefore)) at += *length;
  const auto compares = length_of(code.substr(at), kCompare);
  if (!compares) return 0;
  at += *compares;
  const auto branches = length_of(code.substr(at), kBranch);
  return branches ? at + *branches : 0;
}

#endif

}  // namespace

std::size_t stack_check_of(std::string_view code) { return find_check(code.substr(0, kLongest)); }

std::size_t stack_check_at(const std::string& file, std::uint64_t offset) {
  std::array<char, kLongest> code{};
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return 0;
  const ssize_t got = ::pread(fd.get(), code.data(), code.size(), static_cast<off_t>(offset));
  return got <= 0 ? 0 : stack_check_of({code.data(), static_cast<std::size_t>(got)});
}

}  // namespace fathom::sources::ebpf

// SPDX-License-Identifier: MIT
// Code objects are read once and kept by address, until something else lies there: a program may
// free one and make another at the same place, so each look compares what identifies it. Nothing
// that is read is trusted: lengths have limits, and an object that is no code object by its type is
// none.
#include "sources/perf/python/code_objects.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "sources/perf/python/line_table.h"

namespace fathom::sources {
namespace {

// Beyond these a length is not what it says: text, table of lines, instructions.
constexpr std::uint64_t kUnit = 2;  // bytes of an instruction
constexpr std::uint64_t kMostText = 4096;
constexpr std::uint64_t kMostTable = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostCode = std::uint64_t{1} << 24U;
constexpr std::size_t kMostKnown = 65536;

void append_utf8(std::string& text, std::uint32_t point) {
  constexpr std::uint32_t kMostPoint = 0x10ffff;
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point > kMostPoint || is_surrogate) point = 0xfffd;
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto tail = [&](unsigned int shift) { put(0x80U | ((point >> shift) & 0x3fU)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0U | (point >> 6U));
    tail(0);
  } else if (point < 0x10000) {
    put(0xe0U | (point >> 12U));
    tail(6);
    tail(0);
  } else {
    put(0xf0U | (point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Points of so many bytes each.
std::string utf8_of(std::string_view bytes, std::size_t width) {
  std::string text;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint32_t point = 0;
    std::memcpy(&point, bytes.data() + at, width);
    append_utf8(text, point);
  }
  return text;
}

struct TextForm {
  std::size_t width = 1;
  bool is_ascii = false;
};

// Versions differ in how many bits stand before these: 2, 8 or 16. Only one reading makes sense.
std::optional<TextForm> form_of(std::uint32_t state) {
  for (const unsigned int shift : {2U, 16U, 8U}) {
    const unsigned int kind = (state >> shift) & 7U;
    const bool is_compact = ((state >> (shift + 3)) & 1U) != 0;
    const bool is_ascii = ((state >> (shift + 4)) & 1U) != 0;
    if (is_compact && (kind == 1 || (!is_ascii && (kind == 2 || kind == 4))))
      return TextForm{kind, is_ascii};
  }
  return std::nullopt;
}

}  // namespace

int PythonCode::line(std::uint64_t instruction) const {
  if (instruction < begin || instruction >= end) return first_line;
  const int line = line_at(lines, line_table, first_line, instruction - begin);
  return line > 0 ? line : first_line;
}

std::optional<std::string> CodeObjects::bytes_object(std::uint64_t address) {
  const auto size = memory_.number<std::uint64_t>(address + layout_.size);
  if (!size || *size > kMostTable) return std::nullopt;
  return memory_.text(address + layout_.bytes, *size);
}

std::optional<std::string> CodeObjects::text_object(std::uint64_t address) {
  const auto length = memory_.number<std::uint64_t>(address + layout_.text_length);
  const auto state = memory_.number<std::uint32_t>(address + layout_.text_state);
  if (!length || !state || *length > kMostText) return std::nullopt;
  const std::optional<TextForm> form = form_of(*state);
  if (!form) return std::nullopt;
  const std::uint64_t begin = address + (form->is_ascii ? layout_.ascii_text : layout_.other_text);
  const std::optional<std::string> bytes = memory_.text(begin, *length * form->width);
  return bytes ? std::optional(utf8_of(*bytes, form->width)) : std::nullopt;
}

std::optional<CodeObjects::Identity> CodeObjects::identify(std::uint64_t address) {
  if (memory_.pointer(address + layout_.type) != type_) return std::nullopt;
  const auto file = memory_.pointer(address + layout_.file);
  const auto name = memory_.pointer(address + layout_.name);
  const auto table = memory_.pointer(address + layout_.line_table);
  const auto line = memory_.number<std::int32_t>(address + layout_.first_line);
  if (!file || !name || !table || !line) return std::nullopt;
  std::uint64_t begin = address + layout_.bytecode;
  std::optional<std::uint64_t> size;
  if (layout_.bytecode_inside) {
    size = memory_.number<std::uint64_t>(address + layout_.size);
    if (size) size = *size * kUnit;
  } else if (const auto bytes = memory_.pointer(begin)) {
    size = memory_.number<std::uint64_t>(*bytes + layout_.size);
    begin = *bytes + layout_.bytes;
  }
  if (!size || *size == 0 || *size > kMostCode) return std::nullopt;
  return Identity{*file, *name, *table, *line, begin, *size};
}

// Its variables and the stack of its instructions stand around the first line.
std::uint64_t CodeObjects::frame_bytes(std::uint64_t address) {
  constexpr std::uint64_t kInt = 4;
  constexpr std::uint32_t kMost = 1U << 20U;
  if (layout_.variables == PythonLayout::kNone) return 0;
  const auto stack = memory_.number<std::uint32_t>(address + layout_.first_line - kInt);
  const auto variables = memory_.number<std::uint32_t>(address + layout_.first_line + kInt);
  if (!stack || !variables || *stack > kMost || *variables > kMost) return 0;
  return layout_.variables + (std::uint64_t{*stack} + *variables) * sizeof(std::uint64_t);
}

CodePointer CodeObjects::read(std::uint64_t address, const Identity& identity) {
  std::optional<std::string> function = text_object(identity.name);
  std::optional<std::string> file = text_object(identity.file);
  std::optional<std::string> table = bytes_object(identity.line_table);
  if (!function || !file || !table || function->empty()) return nullptr;
  return std::make_shared<const PythonCode>(PythonCode{
      .address = address,
      .function = std::move(*function),
      .file = std::move(*file),
      .first_line = identity.first_line,
      .lines = layout_.lines,
      .line_table = std::move(*table),
      .begin = identity.bytecode,
      .end = identity.bytecode + identity.size,
      .frame_bytes = frame_bytes(address),
  });
}

void CodeObjects::keep(std::uint64_t address, const Identity& identity, const CodePointer& code) {
  // A program that makes functions without end: what is used is read again.
  if (known_.size() >= kMostKnown) {
    known_.clear();
    by_begin_.clear();
  }
  known_[address] = {identity, code};
  by_begin_[identity.bytecode] = address;
}

CodePointer CodeObjects::at(std::uint64_t address) {
  if (last_ && last_->address == address) return last_;
  CodePointer code = look_up(address);
  if (code) last_ = code;
  return code;
}

CodePointer CodeObjects::look_up(std::uint64_t address) {
  const std::optional<Identity> identity = identify(address);
  if (!identity) return nullptr;
  const auto found = known_.find(address);
  if (found != known_.end() && found->second.identity == *identity) return found->second.code;
  CodePointer code = read(address, *identity);
  if (code) keep(address, *identity, code);
  return code;
}

CodePointer CodeObjects::with_instruction(std::uint64_t address) {
  auto next = by_begin_.upper_bound(address);
  if (next == by_begin_.begin()) return nullptr;
  const CodePointer code = at((--next)->second);
  return code && code->holds(address) ? code : nullptr;
}

// The object that an instruction lies in, when nobody pointed to it: objects are aligned, and begin
// with the address of their type. Backwards, a few pages at most.
CodePointer CodeObjects::search_around(std::uint64_t address) {
  constexpr std::uint64_t kBlock = 4096;
  constexpr std::uint64_t kBlocks = 8;
  constexpr std::uint64_t kAligned = 16;
  if (!layout_.bytecode_inside || address % kUnit != 0 || address < kBlocks * kBlock)
    return nullptr;
  std::array<std::uint64_t, kBlock / sizeof(std::uint64_t)> words;
  std::uint64_t end = (address | (kAligned - 1)) + 1;
  for (std::uint64_t blocks = 0; blocks < kBlocks; blocks++) {
    const std::uint64_t begin = (end - 1) / kBlock * kBlock;
    const std::size_t count = (end - begin) / sizeof(std::uint64_t);
    if (!memory_.read(begin, std::as_writable_bytes(std::span(words).first(count)))) return nullptr;
    for (std::size_t i = count; i-- > 0;) {
      const std::uint64_t object = begin + i * sizeof(std::uint64_t) - layout_.type;
      if (words[i] != type_ || object % kAligned != 0) continue;
      CodePointer code = at(object);
      return code && code->holds(address) ? code : nullptr;
    }
    end = begin;
  }
  return nullptr;
}

}  // namespace fathom::sources

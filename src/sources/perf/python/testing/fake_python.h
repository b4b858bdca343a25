// SPDX-License-Identifier: MIT
// A process with Python inside, made by hand: code objects, frames and threads at addresses of a
// version's layout.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sources/perf/python/code_objects.h"
#include "sources/perf/python/foreign_memory.h"
#include "sources/perf/python/frame_reader.h"
#include "sources/perf/python/layout.h"

namespace fathom::sources::testing {

// Bytes at addresses; what was not put cannot be read.
class FakeMemory final : public ForeignMemory {
 public:
  bool read(std::uint64_t address, std::span<std::byte> to) override {
    for (std::size_t i = 0; i < to.size(); i++) {
      const auto found = bytes_.find(address + i);
      if (found == bytes_.end()) return false;
      to[i] = found->second;
    }
    return true;
  }
  template <class Number>
  void put(std::uint64_t address, Number value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t i = 0; i < sizeof value; i++) bytes_[address + i] = bytes[i];
  }
  void put_text(std::uint64_t address, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); i++) put(address + i, text[i]);
  }
  void zero(std::uint64_t address, std::size_t size) {
    for (std::size_t i = 0; i < size; i++) put(address + i, char{0});
  }
  void remove(std::uint64_t address) { bytes_.erase(address); }

 private:
  std::map<std::uint64_t, std::byte> bytes_;
};

// Owns its memory, which its reader reads as it would another process's.
class FakePython {
 public:
  static constexpr std::uint64_t kCodeType = 0x1000;
  static constexpr std::uint64_t kRuntime = 0x2000;
  static constexpr std::uint64_t kInterpreter = 0x3000;
  static constexpr std::size_t kUnits = 20;  // instructions of a function

  explicit FakePython(const PythonLayout& of)
      : layout(of), codes(memory, layout, kCodeType), reader(memory, layout, codes) {
    memory.zero(kRuntime, 1024);
    memory.zero(kInterpreter, 1024);
    memory.put(kRuntime + layout.first_interpreter, kInterpreter);
  }

  // A line for each instruction, from `first_line` on (as kLocations has it: lengths of 1, a step
  // of 1, no columns).
  std::uint64_t code(const std::string& name, int first_line = 1) {
    const std::uint64_t address = take(512);
    const std::uint64_t table = take(256);
    memory.put(address + layout.type, kCodeType);
    memory.put(address + layout.file, ascii("/home/" + name + ".py"));
    memory.put(address + layout.name, ascii(name));
    memory.put(address + layout.first_line, first_line);
    memory.put(address + layout.line_table, table);
    if (layout.bytecode_inside) {
      memory.put(address + layout.size, std::uint64_t{kUnits});
      // Its stack and its variables: ten words.
      memory.put(address + layout.first_line - 4, std::uint32_t{6});
      memory.put(address + layout.first_line + 4, std::uint32_t{4});
    } else {
      const std::uint64_t bytes = take(256);
      memory.put(address + layout.bytecode, bytes);
      memory.put(bytes + layout.size, std::uint64_t{kUnits * 2});
    }
    const std::string lines = lines_of_each();
    memory.put(table + layout.size, std::uint64_t{lines.size()});
    memory.put_text(table + layout.bytes, lines);
    return address;
  }

  // Where the instructions of a code object lie.
  std::uint64_t instruction(std::uint64_t code, std::uint64_t index) {
    return codes.at(code)->begin + index * 2;
  }

  void frame(std::uint64_t address, std::uint64_t code, std::uint64_t outer,
             std::uint64_t index = 0) {
    memory.zero(address, 128);
    memory.put(address + layout.outer, outer);
    memory.put(address + layout.code, code);
    if (layout.instruction_is_index) {
      memory.put(address + layout.instruction,
                 static_cast<std::int32_t>(index * 2 / layout.index_unit));
    } else {
      memory.put(address + layout.instruction, instruction(code, index));
    }
  }
  // An entry, on the C stack.
  void mark(std::uint64_t address, std::uint64_t outer) {
    memory.zero(address, 128);
    memory.put(address + layout.outer, outer);
    memory.put(address + layout.owner, std::uint8_t{3});
  }

  std::uint64_t thread(std::uint64_t top, std::uint64_t native_id = 0) {
    const std::uint64_t address = take(512);
    memory.put(address + layout.interpreter_of_thread, kInterpreter);
    memory.put(address + layout.next_thread, last_thread_);
    if (layout.native_id != PythonLayout::kNone) memory.put(address + layout.native_id, native_id);
    set_top(address, top);
    memory.put(kInterpreter + layout.first_thread, address);
    last_thread_ = address;
    return address;
  }
  void set_top(std::uint64_t thread, std::uint64_t top) {
    if (layout.top_in_record == PythonLayout::kNone) {
      memory.put(thread + layout.top, top);
      return;
    }
    const std::uint64_t record = take(64);
    memory.put(record + layout.top_in_record, top);
    memory.put(thread + layout.top, record);
  }

  std::uint64_t ascii(const std::string& text) {
    constexpr std::uint32_t kCompactAscii = (1U << 2U) | (1U << 5U) | (1U << 6U);
    const std::uint64_t address = take(512);
    memory.put(address + layout.text_length, std::uint64_t{text.size()});
    memory.put(address + layout.text_state, kCompactAscii);
    memory.put_text(address + layout.ascii_text, text);
    return address;
  }

  std::uint64_t take(std::size_t size) {
    const std::uint64_t address = next_;
    memory.zero(address, size);
    next_ += size;
    return address;
  }

  FakeMemory memory;
  PythonLayout layout;
  CodeObjects codes;
  FrameReader reader;

 private:
  [[nodiscard]] std::string lines_of_each() const {
    std::string table;
    for (std::size_t i = 0; i < kUnits; i++) {
      if (layout.lines == LineFormat::kLocations) {
        table += static_cast<char>(0x80U | (13U << 3U));
        table += static_cast<char>(i == 0 ? 0 : 2);
      } else {
        table += static_cast<char>(layout.lines == LineFormat::kSteps && i == 0 ? 0 : 2);
        table += static_cast<char>(i == 0 ? 0 : 1);
      }
    }
    return table;
  }

  std::uint64_t next_ = 0x100000;
  std::uint64_t last_thread_ = 0;
};

}  // namespace fathom::sources::testing

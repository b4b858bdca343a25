// SPDX-License-Identifier: MIT
// Python's code objects: which function of which file, and its lines. Each is read once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "sources/perf/python/foreign_memory.h"
#include "sources/perf/python/layout.h"

namespace fathom::sources {

// A code object as it was read: nothing in it points into the process.
struct PythonCode {
  std::uint64_t address = 0;
  std::string function;  // with its class and outer functions, from 3.11 on
  std::string file;
  int first_line = 0;
  LineFormat lines = LineFormat::kLocations;
  std::string line_table;
  std::uint64_t begin = 0;  // of its instructions
  std::uint64_t end = 0;
  std::uint64_t frame_bytes = 0;  // of each of its frames; 0: not known

  // Of an instruction that is being done, or was about to be done next.
  [[nodiscard]] bool holds(std::uint64_t instruction) const {
    return instruction >= begin && instruction <= end;
  }
  // Of an instruction's address; where it has none, that of the function.
  [[nodiscard]] int line(std::uint64_t instruction) const;
};

using CodePointer = std::shared_ptr<const PythonCode>;

// One thread at a time.
class CodeObjects {
 public:
  // `type` is the address that all code objects have as their type.
  CodeObjects(ForeignMemory& memory, const PythonLayout& layout, std::uint64_t type)
      : memory_(memory), layout_(layout), type_(type) {}

  // nullptr: no code object is there.
  CodePointer at(std::uint64_t address);
  // Whether an object is still the same is looked up again.
  void forget() { last_ = {}; }
  // The one, of those that were read before, that has an instruction there.
  CodePointer with_instruction(std::uint64_t address);
  // The same of any, where a code object holds its instructions: it begins before them.
  CodePointer search_around(std::uint64_t address);

 private:
  // What tells a code object from another one that is put in its place later.
  struct Identity {
    std::uint64_t file = 0;
    std::uint64_t name = 0;
    std::uint64_t line_table = 0;
    std::int32_t first_line = 0;
    std::uint64_t bytecode = 0;
    std::uint64_t size = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Known {
    Identity identity;
    CodePointer code;
  };

  std::optional<Identity> identify(std::uint64_t address);
  CodePointer read(std::uint64_t address, const Identity& identity);
  std::uint64_t frame_bytes(std::uint64_t address);
  std::optional<std::string> bytes_object(std::uint64_t address);
  std::optional<std::string> text_object(std::uint64_t address);
  CodePointer look_up(std::uint64_t address);
  void keep(std::uint64_t address, const Identity& identity, const CodePointer& code);

  ForeignMemory& memory_;
  const PythonLayout& layout_;
  std::uint64_t type_;
  CodePointer last_;  // asked for again and again by functions that call themselves
  std::unordered_map<std::uint64_t, Known> known_;
  std::map<std::uint64_t, std::uint64_t> by_begin_;  // addresses of objects, by their first byte
};

}  // namespace fathom::sources

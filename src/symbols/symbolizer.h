// SPDX-License-Identifier: MIT
// Places in programs' code as people know them: functions, inlined ones too, and their source files
// and lines where debug information says so. The door to this room for whoever has addresses of
// several modules. Reads files of this machine; never asks the network.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "symbols/module.h"

namespace fathom::symbols {

// One function, as find() tells it.
struct Symbol {
  std::string function;  // demangled
  std::string file;      // empty: no debug information
  int line = 0;
};

// Keeps every module that it opened once. One thread at a time.
class Symbolizer {
 public:
  explicit Symbolizer(DebugPlaces places = {});
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  // The function at `offset` bytes behind the start of a loaded module. An error when the file
  // cannot be read as ELF (kNotFound, kCorrupt) or holds no symbol there (kNotFound).
  Result<Symbol> find(const std::string& module, std::uint64_t offset);

  // Frames at an offset in the module's file, outermost first; empty: no name (Module::frames_at).
  std::span<const Frame> frames_at(const ModuleId& id, std::uint64_t offset);
  // nullptr: it cannot be read, or is not the one that ran.
  Module* module(const ModuleId& id);

 private:
  class Modules;
  std::unique_ptr<Modules> modules_;
};

}  // namespace fathom::symbols

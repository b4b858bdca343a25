// SPDX-License-Identifier: MIT
// One program or library, by offsets in its file: which functions are there, and on which line.
// Names come from .symtab of the file or of its debug file, else from mini-debuginfo, else from
// .dynsym; inlined functions and lines from DWARF. Where none of these tells there is no name, and
// never one of another file: one whose build id differs is not read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/module_id.h"

namespace fathom::symbols {

// Texts live as long as the Module.
struct Frame {
  std::string_view function;  // demangled
  std::string_view file;      // "": no debug information
  int line = 0;
  bool inlined = false;  // into the frame before it

  bool operator==(const Frame&) const = default;
};

// One thread at a time.
class Module {
 public:
  // kNotFound: no such file, or it is another one by now, and no debug file was kept; kCorrupt: no
  // ELF file.
  static Result<Module> open(const ModuleId& id, const DebugPlaces& places = {});
  // What lies in memory alone: the vdso.
  static Result<Module> open_image(std::string bytes, const std::string& name);
  ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;

  // Outermost first; empty: no name, to be shown as module+0xoffset, where the offset is that of
  // its function's begin, if that is known. For a return address ask for
  // the byte before it: that is the call. The span is valid as long as the Module.
  std::span<const Frame> frames_at(std::uint64_t offset);
  // The same by the file's own addresses.
  std::span<const Frame> frames_at_address(std::uint64_t address);

  // Where a function without a name begins, by the file's own addresses, as its call frame
  // information says; nullopt: nobody knows.
  [[nodiscard]] std::optional<std::uint64_t> begin_of_function(std::uint64_t address);

  // From offsets to the file's own addresses; nullopt: that byte is not loaded.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
  [[nodiscard]] const std::vector<Segment>& segments() const;
  [[nodiscard]] const std::string& build_id() const;

  // Where names come from, for those who wonder why there are none.
  enum class Names : std::uint8_t { kNone, kDynamic, kMiniDebug, kDebugFile, kOwn };
  [[nodiscard]] Names names() const;
  [[nodiscard]] bool has_lines() const;

 private:
  class Parts;
  explicit Module(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fathom::symbols

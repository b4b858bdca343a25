// SPDX-License-Identifier: MIT
// What the symbols of a program or library with CPython inside tell: its version, where its
// structures lie, and which of its functions run Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sources/perf/process_maps.h"
#include "symbols/elf_file.h"
#include "symbols/module_id.h"

namespace fathom::sources {

// What a C function does for Python.
enum class NativeRole : std::uint8_t {
  kOther,
  kLoop,    // runs functions of Python
  kHelper,  // only hands a call on from one to another
};

// By the file's own addresses.
class InterpreterFile {
 public:
  // None: this is no CPython, or one whose insides are not known.
  static std::optional<InterpreterFile> of(const symbols::ElfFile& file);
  // Whether a file may have an interpreter inside, by its name: programs, and libraries that are
  // called after Python.
  static bool may_be(std::string_view path);

  // 8 to 12; 13: a version that says itself where things lie.
  [[nodiscard]] int minor() const { return minor_; }
  [[nodiscard]] std::uint64_t runtime() const { return runtime_; }
  [[nodiscard]] std::uint64_t code_type() const { return code_type_; }
  [[nodiscard]] NativeRole role(std::uint64_t address) const;
  // Address minus the file's own, where this part of the file is mapped there; none: it is not
  // loaded.
  [[nodiscard]] std::optional<std::uint64_t> bias(const ProcessMaps::Region& region) const;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    NativeRole role = NativeRole::kOther;
  };

  void add(std::string_view name, std::uint64_t address, std::uint64_t size);
  bool finish();

  int minor_ = 0;
  std::uint64_t runtime_ = 0;
  std::uint64_t code_type_ = 0;
  bool has_object_ref_ = false;  // symbols by which versions differ
  bool has_frame_code_ = false;
  bool has_config_ = false;
  std::uint64_t version_at_ = 0;
  std::uint64_t version_ = 0;
  std::vector<Range> ranges_;  // by address
  std::vector<symbols::Segment> segments_;
};

}  // namespace fathom::sources

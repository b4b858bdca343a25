// SPDX-License-Identifier: MIT
// Call frame information of one file (.eh_frame, .debug_frame): rules by address. Functions are
// found by reading all of the section once, not by .eh_frame_hdr, which may be missing; the rules
// of a function are read when it is first met.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "symbols/byte_reader.h"
#include "symbols/elf_file.h"
#include "symbols/unwind/frame_rules.h"

namespace fathom::symbols {

// One thread at a time.
class FrameTable {
 public:
  // kNotFound, kCorrupt: no file that can be read; kUnsupported: of another kind of machine. A file
  // without any such information is a table without rules.
  static Result<FrameTable> open(const std::string& path);
  static Result<FrameTable> of_image(std::string bytes, const std::string& name);  // the vdso
  static Result<FrameTable> of_file(ElfFile file);

  // By the file's own addresses; nullptr: no rules there. Valid as long as the table.
  const FrameRules* find(std::uint64_t address);
  // Where the function begins that has rules there, or a part of one that lies by itself.
  [[nodiscard]] std::optional<std::uint64_t> begin_of_function(std::uint64_t address) const;
  [[nodiscard]] Machine machine() const { return machine_; }
  [[nodiscard]] std::size_t functions() const { return functions_.size(); }

 private:
  struct Section {
    std::string_view bytes;
    std::uint64_t address = 0;
    bool is_eh = true;
  };
  // What functions of one compilation have in common (CIE).
  struct Common {
    std::uint64_t code_step = 1;
    std::int64_t data_step = 1;
    std::uint8_t return_number = 0;
    std::uint8_t pointer_encoding = 0;
    bool has_data = false;
    bool is_signal = false;
    std::string_view code;
  };
  struct Function {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t reach = 0;
    std::uint32_t common = 0;
    std::uint32_t section = 0;
    std::uint64_t code = 0;  // where its instructions are in the section
    std::uint64_t code_end = 0;
  };
  struct Remembered {
    std::uint64_t address = ~std::uint64_t{0};
    const FrameRules* rules = nullptr;
  };

  explicit FrameTable(ElfFile file) : file_(std::move(file)) {}
  Status read();
  void find_sections();
  void read_section(std::uint32_t index);
  void read_function(std::uint32_t index, ByteReader reader, std::uint64_t common, std::size_t end);
  // An index into commons_; nullopt: damaged.
  std::optional<std::uint32_t> common_at(std::uint32_t section, std::uint64_t at);
  [[nodiscard]] std::optional<Common> read_common(const Section& section, std::uint64_t at) const;
  const FrameRules* look_up(std::uint64_t address);
  const std::vector<FrameRules>& rows_of(const Function& function);

  ElfFile file_;
  Machine machine_ = Machine::kX86;
  std::vector<Section> sections_;
  std::vector<Common> commons_;
  std::unordered_map<std::uint64_t, std::uint32_t> common_places_;
  std::vector<Function> functions_;
  std::unordered_map<std::uint64_t, std::vector<FrameRules>> rows_;  // by begin of the code
  std::vector<Remembered> remembered_;
};

}  // namespace fathom::symbols

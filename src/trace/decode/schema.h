// SPDX-License-Identifier: MIT
// The kinds of events that a library declared, from the text in `schema-<hash>`
// (docs/formats/spool.md, "Calls").
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/record.h"

namespace fathom::trace {

enum class FieldKind : std::uint8_t {
  kFd,
  kFile,
  kOffset,
  kSize,
  kItem,
  kRet,
  kBytes,
  kArgInt,
  kArgPath,
  kArgText,    // id of a string
  kArgFlag,    // number; 0 is left out of args
  kArgChoice,  // number of one of `choices`, from 1 on; 0: none
  kArgExtent,  // three numbers
  kDevice,
  kStream,
  kSite,
  kCorrelation,
  kName,  // id of a string
  kLag    // ticks from the event's end to the record's
};

// One field of a kind, in the order of the record.
struct Field {
  FieldKind kind = FieldKind::kFd;
  std::string key;  // of args
  std::vector<std::string> choices = {};
};

// One declared kind. Names of flags are those of the schema's text.
struct EventKind {
  std::uint16_t kind = 0;
  std::uint32_t source = 0;  // enum fathom_source
  std::string layer;
  std::string name;
  std::string entry;
  std::string category;
  bool ret_is_bytes = false;     // flag `bytes`
  bool uses_position = false;    // flag `position`
  bool moves = false;            // flag `moves`
  bool threadless = false;       // flag `apart`: of no thread
  bool takes_arguments = false;  // flag `arguments`: as a region does
  std::string errors;            // flag `errors=SET`: its result is a number of that set
  std::vector<Field> fields;
  // How many of the fields are left out with flag SAME, and with FULL or ERROR.
  unsigned file_fields = 0;
  unsigned ret_fields = 0;
  unsigned numbers = 0;  // that the fields take
};

// What a number that stands for an error is called, of a library that has its own.
struct ErrorName {
  std::string set;
  std::uint32_t number = 0;
  std::string name;  // "-": it is no error
};

// Does not change after parse(): threads may share it. Chunks and plans of decoders point to it, so
// its owner (Spool) keeps it as long as they are used.
class Schema {
 public:
  // Foreign bytes: every line is checked; what is wrong is kCorrupt with the line's number.
  static Result<Schema> parse(std::string_view text);

  // nullptr for a kind that is not declared.
  [[nodiscard]] const EventKind* find(std::uint32_t kind) const {
    return kind < index_.size() && index_[kind] != 0 ? &kinds_[index_[kind] - 1u] : nullptr;
  }
  [[nodiscard]] const std::vector<EventKind>& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<ErrorName>& errors() const { return errors_; }

 private:
  std::vector<EventKind> kinds_;
  std::vector<ErrorName> errors_;
  std::array<std::uint16_t, FATHOM_KIND_MASK + 1> index_{};
};

// FNV-1a, 64 bits: what names a schema file and a pool.
[[nodiscard]] std::uint64_t fnv1a(std::string_view bytes);

}  // namespace fathom::trace

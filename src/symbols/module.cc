// SPDX-License-Identifier: MIT
// Puts the tables of a module together: names of its own file, of a debug file, of what is packed
// inside it, lines of DWARF. Each adds what those before lack, in the order of how much it knows.
// Answers are remembered: a million samples meet some ten thousand addresses.
#include "symbols/module.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/demangle.h"
#include "symbols/debug_files.h"
#include "symbols/dwarf_frames.h"
#include "symbols/elf_file.h"
#include "symbols/mini_debug.h"
#include "symbols/plt_names.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind/frame_table.h"

namespace fathom::symbols {
namespace {

std::vector<Segment> segments_of(const ElfFile& file) {
  // Programs have a handful; a file that says more is damaged.
  constexpr std::size_t kMost = 4096;
  std::vector<Segment> segments;
  file.each_part([&](const GElf_Phdr& part) {
    if (part.p_type != PT_LOAD || part.p_filesz == 0 || segments.size() == kMost) return;
    segments.push_back({part.p_offset, part.p_vaddr, part.p_filesz, (part.p_flags & PF_X) != 0});
  });
  return segments;
}

// Whether it holds more than headers: what `strip` leaves out has no DWARF.
bool has_dwarf(const ElfFile& file) {
  for (const char* name : {".debug_info", ".zdebug_info"})
    if (!file.content(name).empty()) return true;
  return false;
}

}  // namespace

namespace {

// The file itself, if it is still there and the one that ran.
Result<ElfFile> open_own(const ModuleId& id, const DebugPlaces& places) {
  if (!id.kept.empty()) return ElfFile::open(id.kept);
  if (places.by_build_id_alone) return Error{Code::kNotFound, "no file of that build id", ""};
  FATHOM_ASSIGN(ElfFile file, ElfFile::open(id.root + id.path));
  if (!id.build_id.empty() && file.build_id() != id.build_id)
    return Error{Code::kNotFound, id.path + " is another file than the one that ran", ""};
  return file;
}

}  // namespace

class Module::Parts {
 public:
  Status open(const ModuleId& id, const DebugPlaces& places) {
    id_ = id;
    places_ = places;
    Result<ElfFile> file = open_own(id, places);
    if (file) {
      adopt(std::move(*file), id, places);
      return {};
    }
    Result<ElfFile> kept = find_by_build_id(id.build_id, id, places);
    if (!kept) return std::move(file).error();
    adopt(std::move(*kept), id, places);
    if (!id.segments.empty()) segments_ = id.segments;  // a debug file's own may be without bytes
    return {};
  }

  Status open_image(std::string bytes, const std::string& name) {
    FATHOM_ASSIGN(ElfFile file, ElfFile::of_image(std::move(bytes), name));
    adopt(std::move(file), std::nullopt, {});
    return {};
  }

  std::span<const Frame> at(std::uint64_t address) {
    const auto known = answers_.find(address);
    if (known != answers_.end()) return known->second;
    return answers_.emplace(address, find(address)).first->second;
  }

  [[nodiscard]] std::optional<std::uint64_t> begin_of_function(std::uint64_t address) {
    if (!has_looked_for_rules_) read_rules();
    return rules_ ? rules_->begin_of_function(address) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const {
    std::optional<std::uint64_t> address;
    for (const Segment& segment : segments_) {
      if (offset < segment.offset || offset - segment.offset >= segment.size) continue;
      // Segments may overlap in the file by a page: code is what samples are of.
      if (!address || segment.code) address = offset - segment.offset + segment.address;
    }
    return address;
  }

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  [[nodiscard]] Names names() const { return names_; }
  [[nodiscard]] bool has_lines() const { return dwarf_.has_value(); }

 private:
  void adopt(ElfFile file, const std::optional<ModuleId>& id, const DebugPlaces& places) {
    file_.emplace(std::move(file));
    build_id_ = file_->build_id();
    segments_ = segments_of(*file_);
    if (id && !has_dwarf(*file_)) {
      if (Result<ElfFile> debug = find_debug_file(*file_, *id, places))
        debug_.emplace(std::move(*debug));
    }
    read_symbols();
    read_dwarf(id, places);
  }

  void read_symbols() {
    if (table_.add(*file_, SymbolTable::Kind::kAll) != 0) {
      names_ = Names::kOwn;
    } else if (debug_ && table_.add(*debug_, SymbolTable::Kind::kAll) != 0) {
      names_ = Names::kDebugFile;
    } else {
      // Mini-debuginfo leaves out what .dynsym has.
      if (table_.add(*file_, SymbolTable::Kind::kDynamic) != 0) names_ = Names::kDynamic;
      if (Result<ElfFile> mini = open_mini_debug(*file_)) {
        mini_.emplace(std::move(*mini));
        if (table_.add(*mini_, SymbolTable::Kind::kAll) != 0) names_ = Names::kMiniDebug;
      }
    }
    plt_names_ = plt_names_of(*file_);
    for (const PltName& name : plt_names_) table_.add(name.address, name.size, name.name);
    table_.sort();
  }

  // Without the file that its debug information refers to nothing of it is read: libdw would look
  // for that file itself, wherever the name leads.
  void read_dwarf(const std::optional<ModuleId>& id, const DebugPlaces& places) {
    const ElfFile& source = debug_ ? *debug_ : *file_;
    if (!has_dwarf(source)) return;
    Result<ElfFile> shared = find_shared_debug(source, id.value_or(ModuleId{}), places);
    if (!shared && shared.error().code != Code::kInvalid) return;
    if (shared) shared_.emplace(std::move(*shared));
    std::uint64_t lowest = ~std::uint64_t{0};
    for (const Segment& segment : segments_)
      if (segment.code) lowest = std::min(lowest, segment.address);
    if (lowest == ~std::uint64_t{0}) lowest = 0;
    if (Result<DwarfFrames> dwarf =
            DwarfFrames::open(source, shared_ ? &*shared_ : nullptr, lowest))
      dwarf_.emplace(std::move(*dwarf));
  }

  // Only files without names are asked. A debug file has no rules that could be read.
  void read_rules() {
    has_looked_for_rules_ = true;
    Result<ElfFile> own = id_ ? open_own(*id_, places_) : Error{Code::kNotFound, "no file", ""};
    if (!own) return;
    if (Result<FrameTable> table = FrameTable::of_file(std::move(*own)))
      rules_.emplace(std::move(*table));
  }

  std::string_view plain(std::string_view name) {
    if (name.empty()) return {};
    const auto known = plain_.find(name);
    if (known != plain_.end()) return known->second;
    return plain_.emplace(name, demangle(std::string(name))).first->second;
  }

  std::vector<Frame> find(std::uint64_t address) {
    const std::vector<DwarfFrame> told = dwarf_ ? dwarf_->at(address) : std::vector<DwarfFrame>();
    std::vector<Frame> frames;
    for (const DwarfFrame& one : told)
      frames.push_back({plain(one.function), one.file, one.line, !frames.empty()});
    // The linker's name says more than DWARF's: parts that were split off, clones.
    const std::string_view symbol = plain(table_.find(address).name);
    if (!symbol.empty()) {
      if (frames.empty()) frames.emplace_back();
      frames.front().function = symbol;
    }
    if (!frames.empty() && frames.front().function.empty()) frames.clear();
    return frames;
  }

  std::optional<ModuleId> id_;  // none: what lies in memory alone
  DebugPlaces places_;
  std::optional<ElfFile> file_, debug_, mini_, shared_;
  std::string build_id_;
  std::vector<Segment> segments_;
  std::vector<PltName> plt_names_;
  SymbolTable table_;
  std::optional<DwarfFrames> dwarf_;
  std::optional<FrameTable> rules_;
  bool has_looked_for_rules_ = false;
  Names names_ = Names::kNone;
  std::unordered_map<std::string_view, std::string> plain_;  // by the linker's name
  std::unordered_map<std::uint64_t, std::vector<Frame>> answers_;
};

Module::Module(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

Result<Module> Module::open(const ModuleId& id, const DebugPlaces& places) {
  auto parts = std::make_unique<Parts>();
  FATHOM_TRY(parts->open(id, places));
  return Module(std::move(parts));
}

Result<Module> Module::open_image(std::string bytes, const std::string& name) {
  auto parts = std::make_unique<Parts>();
  FATHOM_TRY(parts->open_image(std::move(bytes), name));
  return Module(std::move(parts));
}

std::span<const Frame> Module::frames_at(std::uint64_t offset) {
  const std::optional<std::uint64_t> address = parts_->address_of(offset);
  return address ? parts_->at(*address) : std::span<const Frame>();
}
std::span<const Frame> Module::frames_at_address(std::uint64_t address) {
  return parts_->at(address);
}
std::optional<std::uint64_t> Module::begin_of_function(std::uint64_t address) {
  return parts_->begin_of_function(address);
}
std::optional<std::uint64_t> Module::address_of(std::uint64_t offset) const {
  return parts_->address_of(offset);
}
const std::vector<Segment>& Module::segments() const { return parts_->segments(); }
const std::string& Module::build_id() const { return parts_->build_id(); }
Module::Names Module::names() const { return parts_->names(); }
bool Module::has_lines() const { return parts_->has_lines(); }

}  // namespace fathom::symbols

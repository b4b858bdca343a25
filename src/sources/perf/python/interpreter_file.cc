// SPDX-License-Identifier: MIT
// Extension modules need the interpreter's symbols, so even a stripped one has those that matter
// here; .symtab adds the static helpers. Before 3.11 the version is told by what there is and what
// there is not.
#include "sources/perf/python/interpreter_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace fathom::sources {
namespace {

constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";

// Functions that do nothing but lead from a call in Python to the function of Python that is
// called. `sorted`, `type.__call__` and the like are work and none of these.
bool is_helper(std::string_view name) {
  static const std::unordered_set<std::string_view> kHelpers = {
      "PyEval_EvalCode",
      "PyEval_EvalCodeEx",
      "PyEval_EvalFrameEx",
      "PyObject_Call",
      "PyObject_CallNoArgs",
      "PyObject_CallOneArg",
      "PyObject_Vectorcall",
      "PyVectorcall_Call",
      "_PyEval_EvalCode",
      "_PyEval_EvalCodeWithName",
      "_PyEval_EvalFrame",
      "_PyEval_Vector",
      "_PyFunction_FastCallDict",
      "_PyFunction_FastCallKeywords",
      "_PyFunction_Vectorcall",
      "_PyMethodDef_RawFastCallKeywords",
      "_PyObject_Call",
      "_PyObject_CallNoArg",
      "_PyObject_CallNoArgs",
      "_PyObject_Call_Prepend",
      "_PyObject_FastCallDict",
      "_PyObject_FastCallDictTstate",
      "_PyObject_Vectorcall",
      "_PyObject_VectorcallDictTstate",
      "_PyObject_VectorcallTstate",
      "_PyVectorcall_Call",
      "call_function",
      "do_call_core",
      "fast_function",
      "function_code_fastcall",
      "gen_iternext",
      "gen_send_ex",
      "gen_send_ex2",
      "method_vectorcall",
      "object_vacall",
      "trace_call_function",
      "vectorcall_maybe",
      "vectorcall_method",
  };
  return kHelpers.contains(name);
}

// Parts that the compiler made of a function (`.cold`, `.part.0`) are that function; 3.14 may have
// a function for each instruction.
NativeRole role_of(std::string_view name) {
  const std::string_view whole = name.substr(0, name.find('.'));
  if (whole == kLoop) return NativeRole::kLoop;
  const bool is_instruction = whole.starts_with("_TAIL_CALL_");
  return is_instruction || is_helper(whole) ? NativeRole::kHelper : NativeRole::kOther;
}

}  // namespace

bool InterpreterFile::may_be(std::string_view path) {
  if (!path.starts_with('/')) return false;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.find("python") != std::string_view::npos ||
         name.find(".so") == std::string_view::npos;
}

void InterpreterFile::add(std::string_view name, std::uint64_t address, std::uint64_t size) {
  if (name == "_PyRuntime") runtime_ = address;
  if (name == "PyCode_Type") code_type_ = address;
  if (name == "Py_Version") version_at_ = address;
  has_object_ref_ |= name == "PyModule_AddObjectRef";
  has_frame_code_ |= name == "PyFrame_GetCode";
  has_config_ |= name == "PyConfig_Read";
  const NativeRole role = role_of(name);
  if (role != NativeRole::kOther && size > 0) ranges_.push_back({address, address + size, role});
}

bool InterpreterFile::finish() {
  std::ranges::sort(ranges_, {}, &Range::begin);
  if (version_at_ != 0) {
    minor_ = std::min(13, static_cast<int>((version_ >> 16U) & 255U));
    if (version_ >> 24U != 3) return false;
  } else if (has_config_) {
    minor_ = has_object_ref_ ? 10 : has_frame_code_ ? 9 : 8;
  }
  const bool has_loop = std::ranges::any_of(
      ranges_, [](const Range& range) { return range.role == NativeRole::kLoop; });
  return minor_ >= 8 && runtime_ != 0 && code_type_ != 0 && has_loop;
}

std::optional<InterpreterFile> InterpreterFile::of(const symbols::ElfFile& file) {
  InterpreterFile made;
  const auto add = [&made](const auto& /*table*/, int /*index*/, const auto& symbol,
                           const char* name) {
    if (symbol.st_shndx != SHN_UNDEF) made.add(name, symbol.st_value, symbol.st_size);
  };
  file.each_symbol_of(SHT_DYNSYM, add);
  if (made.runtime_ == 0) return std::nullopt;
  file.each_symbol_of(SHT_SYMTAB, add);
  file.each_part([&](const auto& part) {
    if (part.p_type == PT_LOAD)
      made.segments_.push_back({part.p_offset, part.p_vaddr, part.p_filesz, true});
  });
  if (made.version_at_ != 0) {
    const std::optional<std::uint64_t> offset = file.offset_of(made.version_at_);
    const std::string_view bytes =
        offset ? file.bytes_at(*offset, sizeof made.version_) : std::string_view();
    if (bytes.size() == sizeof made.version_)
      std::memcpy(&made.version_, bytes.data(), bytes.size());
  }
  return made.finish() ? std::optional(std::move(made)) : std::nullopt;
}

NativeRole InterpreterFile::role(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (next == ranges_.begin()) return NativeRole::kOther;
  const Range& range = *(next - 1);
  return address < range.end ? range.role : NativeRole::kOther;
}

std::optional<std::uint64_t> InterpreterFile::bias(const ProcessMaps::Region& region) const {
  for (const symbols::Segment& segment : segments_) {
    if (region.offset + region.length > segment.offset &&
        region.offset < segment.offset + segment.size)
      return region.address - (region.offset - segment.offset + segment.address);
  }
  return std::nullopt;
}

}  // namespace fathom::sources

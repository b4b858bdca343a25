// SPDX-License-Identifier: MIT
// Wraps libdwfl. Debug information is looked for on this machine only: a profiler that waits for a
// debuginfod server surprises its user.
#include "symbols/symbolizer.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <unordered_map>
#include <utility>

#include "base/demangle.h"
#include "base/files.h"

namespace fathom::symbols {
namespace {

// dwfl_standard_find_debuginfo would also ask debuginfod servers; a profiler that waits for the
// network surprises.
constexpr Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_build_id_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

struct DwflEnd {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

// One opened module, with where libdwfl laid it.
struct Module {
  std::unique_ptr<Dwfl, DwflEnd> dwfl;
  Dwfl_Module* module = nullptr;
  GElf_Addr bias = 0;  // libdwfl's address minus the file's own
  GElf_Addr start =
      0;  // the file's own address of its first byte: not 0 for programs that are not PIE
};

GElf_Addr first_load_address(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
    if (header.p_type == PT_LOAD)
      return header.p_vaddr & ~(header.p_align > 1 ? header.p_align - 1 : 0);
  }
  return 0;
}

// Only a file: whoever named it may have named a FIFO or a device.
Result<Fd> open_regular(const std::string& path) {
  struct stat facts {};
  Fd fd;
  if (::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
    fd.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return Error{Code::kNotFound, "cannot read " + path, ""};
  return fd;
}

Result<Module> open_module(const std::string& path) {
  FATHOM_ASSIGN(Fd fd, open_regular(path));
  Module opened;
  opened.dwfl.reset(dwfl_begin(&kCallbacks));
  if (opened.dwfl == nullptr) return Error{Code::kIo, dwfl_errmsg(-1), ""};
  opened.module = dwfl_report_offline(opened.dwfl.get(), path.c_str(), path.c_str(), fd.get());
  if (opened.module != nullptr) (void)fd.release();  // it is libdwfl's now
  dwfl_report_end(opened.dwfl.get(), nullptr, nullptr);
  Elf* elf = opened.module == nullptr ? nullptr : dwfl_module_getelf(opened.module, &opened.bias);
  if (elf == nullptr) return Error{Code::kCorrupt, path + " is not an ELF file", ""};
  opened.start = first_load_address(elf);
  return opened;
}

}  // namespace

class Symbolizer::Modules {
 public:
  // Failures are kept too: a missing file is not looked for at every site.
  const Result<Module>& get(const std::string& path) {
    const auto known = modules_.find(path);
    if (known != modules_.end()) return known->second;
    return modules_.emplace(path, open_module(path)).first->second;
  }

 private:
  std::unordered_map<std::string, Result<Module>> modules_;
};

Symbolizer::Symbolizer() : modules_(std::make_unique<Modules>()) {}
Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;

Result<Symbol> Symbolizer::find(const std::string& module, std::uint64_t offset) {
  const Result<Module>& opened = modules_->get(module);
  if (!opened) return opened.error();
  const GElf_Addr address = opened->bias + opened->start + offset;
  GElf_Off within = 0;
  GElf_Sym symbol;
  const char* name =
      dwfl_module_addrinfo(opened->module, address, &within, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || *name == '\0') {
    return Error{Code::kNotFound, "no symbol at this offset of " + module, ""};
  }
  Symbol found{.function = demangle(name), .file = "", .line = 0};
  if (Dwfl_Line* line = dwfl_module_getsrc(opened->module, address); line != nullptr) {
    const char* file = dwfl_lineinfo(line, nullptr, &found.line, nullptr, nullptr, nullptr);
    if (file != nullptr) found.file = file;
  }
  return found;
}

}  // namespace fathom::symbols

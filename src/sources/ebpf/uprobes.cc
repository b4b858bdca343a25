// SPDX-License-Identifier: MIT
#include "sources/ebpf/uprobes.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>

namespace fathom::sources::ebpf {
namespace {

constexpr std::uint32_t kAtReturn = 1;

// As the kernel has it; libbpf 1.1 does not.
struct UprobeLink {
  std::uint32_t program, target, attach_type, flags;
  std::uint64_t path, offsets, semaphores, cookies;
  std::uint32_t count, options;
  std::int32_t pid;
  std::uint32_t unused;
};

template <class T>
std::uint64_t address_of(const T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// Places of one file, as the kernel wants them.
struct Places {
  std::vector<std::uint64_t> offsets, semaphores, cookies;

  void add(const Function& function, std::uint32_t number) {
    offsets.push_back(function.offset);
    semaphores.push_back(function.semaphore);
    cookies.push_back(number | (function.is_point ? std::uint32_t{FATHOM_BPF_POINT} : 0U));
  }
};

Status link_many(Loaded& loaded, const bpf_program* program, const std::string& path,
                 const Places& places, std::uint32_t options) {
  if (places.offsets.empty()) return {};
  UprobeLink link{};
  link.program = static_cast<std::uint32_t>(bpf_program__fd(program));
  link.attach_type = static_cast<std::uint32_t>(loaded.module->uprobes);
  link.path = address_of(path.c_str());
  link.offsets = address_of(places.offsets.data());
  link.semaphores = address_of(places.semaphores.data());
  link.cookies = address_of(places.cookies.data());
  link.count = static_cast<std::uint32_t>(places.offsets.size());
  link.options = options;
  Fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
  if (!fd.valid()) return refused(errno);
  loaded.uprobes.push_back(std::move(fd));
  return {};
}

Status link_one(Loaded& loaded, const bpf_program* program, const std::string& path,
                const Places& places, std::size_t at, bool at_return) {
  bpf_uprobe_opts options{};
  options.sz = sizeof options;
  options.ref_ctr_offset = places.semaphores[at];
  options.bpf_cookie = places.cookies[at];
  options.retprobe = at_return;
  bpf_link* link =
      bpf_program__attach_uprobe_opts(program, -1, path.c_str(), places.offsets[at], &options);
  if (link == nullptr) return refused(errno);
  loaded.links.emplace_back(link);
  return {};
}

// Returns first: a call that is entered in between is one that was not seen to begin.
Status attach_file(Loaded& loaded, const std::string& path, const Places& all,
                   const Places& returning) {
  const bpf_program* entry = bpf_object__next_program(loaded.object.get(), nullptr);
  if (loaded.module->uprobes == Uprobes::kSession) return link_many(loaded, entry, path, all, 0);
  const bpf_program* leave =
      bpf_object__next_program(loaded.object.get(), const_cast<bpf_program*>(entry));
  if (loaded.module->uprobes == Uprobes::kMulti) {
    FATHOM_TRY(link_many(loaded, leave, path, returning, kAtReturn));
    return link_many(loaded, entry, path, all, 0);
  }
  for (std::size_t i = 0; i < returning.offsets.size(); ++i)
    FATHOM_TRY(link_one(loaded, leave, path, returning, i, true));
  for (std::size_t i = 0; i < all.offsets.size(); ++i)
    FATHOM_TRY(link_one(loaded, entry, path, all, i, false));
  return {};
}

}  // namespace

void mark_programs(bpf_object* object, Uprobes uprobes) {
  const bool many = uprobes == Uprobes::kMulti || uprobes == Uprobes::kSession;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    if (many)
      bpf_program__set_expected_attach_type(program,
                                            static_cast<bpf_attach_type>(std::uint32_t(uprobes)));
  }
}

Status attach_functions(Loaded& loaded, const std::vector<Function>& functions,
                        std::uint32_t first_number) {
  std::set<std::string> files;
  for (const Function& function : functions) files.insert(function.file);
  for (const std::string& file : files) {
    Places all;
    Places returning;
    for (std::uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].file != file) continue;
      all.add(functions[i], first_number + i);
      if (!functions[i].is_point) returning.add(functions[i], first_number + i);
    }
    FATHOM_TRY(attach_file(loaded, file, all, returning));
  }
  return {};
}

}  // namespace fathom::sources::ebpf

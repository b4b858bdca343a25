// SPDX-License-Identifier: MIT
// Attaches by uprobe_multi where the kernel has it, else one by one. The kernel takes all places or
// none, so those that it refuses are found by bisection.
#include "sources/ebpf/uprobes.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "base/files.h"

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

  void add(const Function& function, std::uint32_t number, bool asks) {
    std::uint32_t bits = asks ? FATHOM_BPF_ASK : FATHOM_BPF_POINT;
    if (function.times == Times::kKnown) bits = 0;
    offsets.push_back(function.offset);
    semaphores.push_back(function.semaphore);
    cookies.push_back(number | bits);
  }
  [[nodiscard]] std::size_t size() const { return offsets.size(); }
  [[nodiscard]] Places part(std::size_t from, std::size_t to) const {
    const auto slice = [&](const std::vector<std::uint64_t>& all) {
      return std::vector<std::uint64_t>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                        all.begin() + static_cast<std::ptrdiff_t>(to));
    };
    return {slice(offsets), slice(semaphores), slice(cookies)};
  }
  // By their offsets.
  void leave_out(const std::map<std::uint64_t, int>& refused) {
    Places kept;
    for (std::size_t i = 0; i < size(); ++i) {
      if (refused.contains(offsets[i])) continue;
      kept.offsets.push_back(offsets[i]);
      kept.semaphores.push_back(semaphores[i]);
      kept.cookies.push_back(cookies[i]);
    }
    *this = std::move(kept);
  }
};

// While it exists, this process has the file in its memory. The kernel looks at an instruction when
// it puts a probe into a mapping; without one, it would refuse later, and tell nobody.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts {};
    if (!fd.valid() || ::fstat(fd.get(), &facts) != 0 || facts.st_size <= 0) return;
    size_ = static_cast<std::size_t>(facts.st_size);
    memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  }
  ~Mapping() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

 private:
  void* memory_ = MAP_FAILED;
  std::size_t size_ = 0;
};

// 0, or the kernel's error.
int link_many(Loaded& loaded, const bpf_program* program, const std::string& path,
              const Places& places, bool at_return) {
  UprobeLink link{};
  link.program = static_cast<std::uint32_t>(bpf_program__fd(program));
  link.attach_type = static_cast<std::uint32_t>(loaded.module->uprobes);
  link.path = address_of(path.c_str());
  link.offsets = address_of(places.offsets.data());
  link.semaphores = address_of(places.semaphores.data());
  link.cookies = address_of(places.cookies.data());
  link.count = static_cast<std::uint32_t>(places.size());
  link.options = at_return ? kAtReturn : 0;
  Fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
  if (!fd.valid()) return errno;
  loaded.uprobes.push_back(std::move(fd));
  return 0;
}

int link_one(Loaded& loaded, const bpf_program* program, const std::string& path,
             const Places& places, bool at_return) {
  bpf_uprobe_opts options{};
  options.sz = sizeof options;
  options.ref_ctr_offset = places.semaphores.front();
  options.bpf_cookie = places.cookies.front();
  options.retprobe = at_return;
  bpf_link* link =
      bpf_program__attach_uprobe_opts(program, -1, path.c_str(), places.offsets.front(), &options);
  if (link == nullptr) return errno;
  loaded.links.emplace_back(link);
  return 0;
}

// It is not the function that is refused.
bool is_of_all(int error) {
  constexpr int kOfAll[] = {EPERM, EACCES, ENOMEM, EMFILE, ENFILE, E2BIG, ENOENT, EBADF};
  return std::ranges::find(kOfAll, error) != std::end(kOfAll);
}

using Refused = std::map<std::uint64_t, int>;  // offsets of functions, the kernel's errors

// The kernel takes all or none: those that it refuses are found by halves.
Status link(Loaded& loaded, const bpf_program* program, const std::string& path,
            const Places& places, bool at_return, Refused& refused) {
  if (places.size() == 0) return {};
  const bool together = loaded.module->uprobes != Uprobes::kPlain;
  const int error = !together && places.size() > 1 ? E2BIG
                                                   : (together ? link_many : link_one)(
                                                         loaded, program, path, places, at_return);
  if (error == 0) return {};
  if (is_of_all(error) && (together || places.size() == 1)) return ebpf::refused(error);
  if (places.size() == 1) {
    refused.emplace(places.offsets.front(), error);
    return {};
  }
  const std::size_t middle = places.size() / 2;
  FATHOM_TRY(link(loaded, program, path, places.part(0, middle), at_return, refused));
  return link(loaded, program, path, places.part(middle, places.size()), at_return, refused);
}

// Returns first: a call that is entered in between is one that was not seen to begin.
Status attach_file(Loaded& loaded, const std::string& path, Places all, const Places& returning,
                   Refused& refused) {
  const Mapping mapping(path);
  const bpf_program* entry = bpf_object__next_program(loaded.object.get(), nullptr);
  if (loaded.module->uprobes != Uprobes::kSession) {
    const bpf_program* leave =
        bpf_object__next_program(loaded.object.get(), const_cast<bpf_program*>(entry));
    FATHOM_TRY(link(loaded, leave, path, returning, true, refused));
    all.leave_out(refused);
  }
  return link(loaded, entry, path, all, false, refused);
}

std::string words_of(int error) {
  constexpr int kNotSupported = 524;  // the kernel's own ENOTSUPP, which has no word outside of it
  if (error == kNotSupported) return "the kernel cannot step over its first instruction";
  return "the kernel refuses it: " + std::string(std::strerror(error));
}

}  // namespace

void mark_programs(bpf_object* object, Uprobes uprobes) {
  const bool many = uprobes == Uprobes::kMulti || uprobes == Uprobes::kSession ||
                    uprobes == Uprobes::kKernelSession;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    if (many)
      bpf_program__set_expected_attach_type(program,
                                            static_cast<bpf_attach_type>(std::uint32_t(uprobes)));
  }
}

Result<std::vector<Unprobed>> attach_functions(Loaded& loaded,
                                               const std::vector<Function>& functions,
                                               std::uint32_t first_number) {
  // Only sessions can leave a return alone in some processes and not in others.
  const bool can_ask = loaded.module->uprobes == Uprobes::kSession;
  std::set<std::string> files;
  for (const Function& function : functions) {
    if (!function.is_of_kernel()) files.insert(function.file);
  }
  std::vector<Unprobed> unprobed;
  for (const std::string& file : files) {
    Places all;
    Places returning;
    for (std::uint32_t i = 0; i < functions.size(); ++i) {
      const Function& function = functions[i];
      if (function.file != file) continue;
      all.add(function, first_number + i, can_ask && function.times == Times::kInPlainPrograms);
      if (function.times == Times::kKnown) returning.add(function, first_number + i, false);
    }
    Refused refused;
    FATHOM_TRY(attach_file(loaded, file, all, returning, refused));
    for (const Function& function : functions) {
      const auto found = refused.find(function.offset);
      if (function.file == file && found != refused.end())
        unprobed.push_back({function.name, words_of(found->second)});
    }
  }
  const auto asked = std::ranges::count_if(
      functions, [](const Function& function) { return !function.is_of_kernel(); });
  if (unprobed.empty() || std::ssize(unprobed) < asked) return unprobed;
  const Unprobed& first = unprobed.front();
  return Error{Code::kUnsupported, first.name + " cannot be probed: " + first.why, ""};
}

}  // namespace fathom::sources::ebpf

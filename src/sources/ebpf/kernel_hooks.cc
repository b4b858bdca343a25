// SPDX-License-Identifier: MIT
// Tracepoints one by one, by a link with a cookie; functions all at once where the kernel has
// sessions, else a pair of probes each. What libbpf 1.1 does not know is asked of the kernel
// itself.
#include "sources/ebpf/kernel_hooks.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/files.h"
#include "sources/ebpf/kernel_code.h"

namespace fathom::sources::ebpf {
namespace {

// Attaching is quick; each probe of a pair waits for the others of the machine when it goes.
constexpr std::size_t kMostAtOnce = 8192;
constexpr std::size_t kMostPairs = 256;
constexpr std::size_t kMostPoints = 1024;

// As the kernel has them.
struct PointLink {
  std::uint64_t name;
  std::uint32_t program, unused;
  std::uint64_t cookie;  // since Linux 6.10
};
struct FunctionLink {
  std::uint32_t program, target, attach_type, flags;
  std::uint32_t options, count;
  std::uint64_t names, addresses, cookies;
};

template <class T>
std::uint64_t address_of(const T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

const bpf_program* first_program(const Loaded& loaded) {
  return bpf_object__next_program(loaded.object.get(), nullptr);
}

std::uint32_t number_of_program(const bpf_program* program) {
  return static_cast<std::uint32_t>(bpf_program__fd(program));
}

// Not valid, with errno, where the kernel refuses. (A cookie of 0 would be no cookie.)
Fd link_point(const Loaded& loaded, const char* name, std::uint32_t number) {
  const PointLink link{.name = address_of(name),
                       .program = number_of_program(first_program(loaded)),
                       .unused = 0,
                       .cookie = number | FATHOM_BPF_POINT};
  return Fd(static_cast<int>(::syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &link, sizeof link)));
}

// What is attached, by its places in `functions`.
using Places = std::vector<std::uint32_t>;
using Refused = std::map<std::uint32_t, std::string>;  // places, why

Fd link_functions(const Loaded& loaded, const std::vector<Function>& functions,
                  std::span<const std::uint32_t> places) {
  std::vector<const char*> names;
  std::vector<std::uint64_t> cookies;
  for (const std::uint32_t place : places) {
    names.push_back(functions[place].name.c_str());
    cookies.push_back(place);
  }
  FunctionLink link{};
  link.program = number_of_program(first_program(loaded));
  link.attach_type = static_cast<std::uint32_t>(loaded.module->uprobes);
  link.count = static_cast<std::uint32_t>(places.size());
  link.names = address_of(names.data());
  link.cookies = address_of(cookies.data());
  return Fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
}

std::string words_of(int error) {
  // No such place, none that can be traced, or one of those on the kernel's own list.
  if (error == ENOENT || error == ESRCH || error == EINVAL || error == EADDRNOTAVAIL)
    return "the kernel does not let it be probed";
  return "the kernel refuses it: " + std::string(std::strerror(error));
}

// It is not the function that is refused.
bool is_of_all(int error) {
  return error == EPERM || error == EACCES || error == ENOMEM || error == EOPNOTSUPP;
}

// The kernel takes all or none: those that it refuses are found by halves.
Status link_by_halves(Loaded& loaded, const std::vector<Function>& functions,
                      std::span<const std::uint32_t> places, Refused& refused) {
  if (places.empty()) return {};
  Fd fd = link_functions(loaded, functions, places);
  if (fd.valid()) {
    loaded.uprobes.push_back(std::move(fd));
    return {};
  }
  const int error = errno;
  if (is_of_all(error)) return ebpf::refused(error);
  if (places.size() == 1) {
    refused.emplace(places.front(), words_of(error));
    return {};
  }
  const std::size_t middle = places.size() / 2;
  FATHOM_TRY(link_by_halves(loaded, functions, places.first(middle), refused));
  return link_by_halves(loaded, functions, places.subspan(middle), refused);
}

Link link_probe(const bpf_program* program, const Function& function, std::uint32_t place,
                bool at_return) {
  bpf_kprobe_opts options{};
  options.sz = sizeof options;
  options.bpf_cookie = place;
  options.retprobe = at_return;
  return Link(bpf_program__attach_kprobe_opts(program, function.name.c_str(), &options));
}

// Returns first: a call that is entered in between is one that was not seen to begin.
Status link_pairs(Loaded& loaded, const std::vector<Function>& functions, const Places& places,
                  Refused& refused) {
  const bpf_program* entry = first_program(loaded);
  const bpf_program* leave =
      bpf_object__next_program(loaded.object.get(), const_cast<bpf_program*>(entry));
  for (const std::uint32_t place : places) {
    Link at_return = link_probe(leave, functions[place], place, true);
    Link at_entry = at_return ? link_probe(entry, functions[place], place, false) : Link();
    if (!at_entry) {
      const int error = errno;
      if (is_of_all(error)) return ebpf::refused(error);
      refused.emplace(place, words_of(error));
      continue;
    }
    loaded.links.push_back(std::move(at_return));
    loaded.links.push_back(std::move(at_entry));
  }
  return {};
}

Status link_points(Loaded& loaded, const std::vector<Function>& functions, const Places& places,
                   Refused& refused) {
  for (const std::uint32_t place : places) {
    Fd fd = link_point(loaded, functions[place].name.c_str(), place);
    if (fd.valid())
      loaded.uprobes.push_back(std::move(fd));
    else if (is_of_all(errno))
      return ebpf::refused(errno);
    else
      refused.emplace(place, words_of(errno));
  }
  return {};
}

// Leaves out what is beyond the most.
void limit(Places& places, std::size_t most, Refused& refused) {
  for (std::size_t i = most; i < places.size(); ++i)
    refused.emplace(places[i], "only " + std::to_string(most) + " are probed at a time");
  if (places.size() > most) places.resize(most);
}

Status attach_places(Loaded* loaded, const std::vector<Function>& functions, Places places,
                     Refused& refused) {
  if (places.empty()) return {};
  if (loaded == nullptr) {
    const std::string trouble = why_no_functions();
    const bool points = functions[places.front()].is_tracepoint();
    for (const std::uint32_t place : places)
      refused.emplace(place, points ? "this kernel cannot tell tracepoints apart (since Linux 6.10)"
                                    : "this kernel takes no programs at its functions" +
                                          (trouble.empty() ? "" : ": " + trouble));
    return {};
  }
  const Uprobes way = loaded->module->uprobes;
  if (way == Uprobes::kPoints) {
    limit(places, kMostPoints, refused);
    return link_points(*loaded, functions, places, refused);
  }
  limit(places, way == Uprobes::kKernelSession ? kMostAtOnce : kMostPairs, refused);
  if (way == Uprobes::kKernelPair) return link_pairs(*loaded, functions, places, refused);
  return link_by_halves(*loaded, functions, places, refused);
}

Loaded* module_for(std::span<Loaded> modules, bool points) {
  const auto found = std::ranges::find_if(modules, [&](const Loaded& one) {
    return one.module->layer == FATHOM_BPF_KERNEL &&
           (one.module->uprobes == Uprobes::kPoints) == points;
  });
  return found == modules.end() ? nullptr : &*found;
}

}  // namespace

Status try_kernel_hooks(const Loaded& loaded) {
  if (loaded.module->uprobes == Uprobes::kKernelPair) {
    const std::string trouble = why_no_functions();
    return trouble.find("kprobes") == std::string::npos
               ? Status()
               : Status(Error{Code::kUnsupported, trouble, ""});
  }
  // There is none: the kernel says so, or that it does not understand the question.
  if (loaded.module->uprobes == Uprobes::kPoints) {
    const Fd none = link_point(loaded, "fathom_no_such_tracepoint", 0);
    return errno == ENOENT ? Status() : Status(ebpf::refused(errno));
  }
  const std::vector<Function> nothing = {{.file = "", .name = "fathom_no_such_function"}};
  const std::uint32_t place = 0;
  const Fd none = link_functions(loaded, nothing, {&place, 1});
  const bool understood = errno == ENOENT || errno == ESRCH;
  return understood ? Status() : Status(ebpf::refused(errno));
}

Result<std::vector<Unprobed>> attach_kernel_hooks(std::span<Loaded> modules,
                                                  const std::vector<Function>& functions) {
  Places points;
  Places named;
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].is_of_kernel()) (functions[i].is_tracepoint() ? points : named).push_back(i);
  }
  Refused refused;
  FATHOM_TRY(attach_places(module_for(modules, true), functions, points, refused));
  FATHOM_TRY(attach_places(module_for(modules, false), functions, named, refused));
  std::vector<Unprobed> unprobed;
  for (const auto& [place, why] : refused) unprobed.push_back({functions[place].name, why, true});
  if (unprobed.empty() || unprobed.size() < points.size() + named.size()) return unprobed;
  const Unprobed& first = unprobed.front();
  return Error{Code::kUnsupported, first.name + " cannot be probed: " + first.why, ""};
}

}  // namespace fathom::sources::ebpf

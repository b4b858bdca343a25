// SPDX-License-Identifier: MIT
// Most refusals have one of three causes: a setting of the kernel, a sandbox, or a machine without
// counters. errno alone does not tell them apart, so what surrounds us is looked at.
#include "perf/open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/os_error.h"
#include "base/privilege.h"
#include "base/text.h"
#include "perf/pmu.h"

namespace fathom::perf {
namespace {

int try_open(perf_event_attr& attr, const Target& target) {
  long fd = -1;
  do {
    fd = ::syscall(SYS_perf_event_open, &attr, target.pid, target.cpu, target.group,
                   target.flags | PERF_FLAG_FD_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  attr.size = sizeof attr;  // the kernel writes its own where it knows fewer
  return static_cast<int>(fd);
}

// Settings by the kernel that brought them, newest first. Each can be done without: something is
// told in less detail then, and nothing is counted otherwise.
using Strip = bool (*)(perf_event_attr& attr);
constexpr std::array<Strip, 7> kNewest = {
    [](perf_event_attr& attr) {  // 6.0
      const bool had = (attr.read_format & PERF_FORMAT_LOST) != 0;
      attr.read_format &= ~std::uint64_t{PERF_FORMAT_LOST};
      return had;
    },
    [](perf_event_attr& attr) {  // 5.12
      const bool had = attr.build_id != 0;
      attr.build_id = 0;
      return had;
    },
    [](perf_event_attr& attr) {  // 5.8
      const bool had = attr.text_poke != 0;
      attr.text_poke = 0;
      return had;
    },
    [](perf_event_attr& attr) {  // 5.7
      const bool had = attr.cgroup != 0 || (attr.sample_type & PERF_SAMPLE_CGROUP) != 0;
      attr.cgroup = 0;
      attr.sample_type &= ~std::uint64_t{PERF_SAMPLE_CGROUP};
      return had;
    },
    [](perf_event_attr& attr) {  // 5.1
      const bool had = attr.ksymbol != 0 || attr.bpf_event != 0;
      attr.ksymbol = attr.bpf_event = 0;
      return had;
    },
    [](perf_event_attr& attr) {  // 4.12
      const bool had = attr.namespaces != 0;
      attr.namespaces = 0;
      return had;
    },
    [](perf_event_attr& attr) {  // not every CPU is so precise
      const bool had = attr.precise_ip > 1;
      attr.precise_ip = attr.precise_ip > 0 ? 1 : 0;
      return had;
    },
};

bool may_be_a_new_setting(int number, const perf_event_attr& attr) {
  return number == EINVAL || number == E2BIG || (number == EOPNOTSUPP && attr.precise_ip > 1);
}

std::string setting(int value) {
  return as_root("sysctl kernel.perf_event_paranoid=" + std::to_string(value));
}

// What the kernel would need for this to be allowed: 2 for the user's own code, 1 for the kernel's
// part of it, 0 for whole CPUs, -1 for tracepoints' content.
int needed_setting(const perf_event_attr& attr, const Target& target) {
  if (attr.type == PERF_TYPE_TRACEPOINT && (attr.sample_type & PERF_SAMPLE_RAW) != 0) return -1;
  if (target.pid == -1) return 0;
  return attr.exclude_kernel != 0 ? 2 : 1;
}

Error denied(const perf_event_attr& attr, const Target& target, const RefusalContext& context) {
  const int needed = needed_setting(attr, target);
  if (!context.is_root && context.paranoid > needed) {
    std::string words = "kernel.perf_event_paranoid is " + std::to_string(context.paranoid);
    if (context.paranoid > 2) {
      words += ", which allows only root to count";
    } else if (needed == 1) {
      words += ", which hides what happens in the kernel from users";
    } else {
      words += ", which lets users count their own programs only";
    }
    return {Code::kDenied, words, setting(needed)};
  }
  if (context.foreign)
    return {Code::kDenied, "the process belongs to another user", as_root("fathom …")};
  if (context.filtered)
    return {Code::kDenied, "a sandbox (seccomp) forbids perf_event_open",
            "start the container with --cap-add PERFMON, or count from outside it"};
  return {Code::kDenied, "the kernel forbids perf_event_open (CAP_PERFMON is missing)",
          as_root("setcap cap_perfmon+ep $(command -v fathom)")};
}

Error not_there(const perf_event_attr& attr, const RefusalContext& context) {
  const bool is_hardware = attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_HW_CACHE ||
                           attr.type == PERF_TYPE_RAW;
  if (is_hardware && !context.hardware_counters)
    return {Code::kUnsupported, "this machine has no hardware counters", ""};
  if (is_hardware) return {Code::kUnsupported, "this CPU does not count it", ""};
  return {Code::kUnsupported, "this kernel does not have it", ""};
}

int read_paranoid() {
  const Result<std::string> text = read_file("/proc/sys/kernel/perf_event_paranoid");
  const Result<std::int64_t> value = parse_int(trim(text ? *text : std::string()));
  return value ? static_cast<int>(*value) : 2;
}

bool behind_filter() {
  const Result<std::string> status = read_file("/proc/self/status");
  if (!status) return false;
  const std::size_t at = status->find("\nSeccomp:");
  return at != std::string::npos && status->find_first_of("12", at) < status->find('\n', at + 1);
}

bool is_foreign(pid_t thread) {
  struct stat facts {};
  const std::string path = "/proc/" + std::to_string(thread);
  return thread > 0 && geteuid() != 0 && ::stat(path.c_str(), &facts) == 0 &&
         facts.st_uid != geteuid();
}

}  // namespace

RefusalContext RefusalContext::here(const Target& target) {
  return {.paranoid = read_paranoid(),
          .is_root = geteuid() == 0,
          .filtered = behind_filter(),
          .hardware_counters = has_hardware_counters(),
          .foreign = is_foreign(target.pid)};
}

Error refusal(int number, const perf_event_attr& attr, const Target& target,
              const RefusalContext& context) {
  switch (number) {
    case EACCES:
    case EPERM:
      return denied(attr, target, context);
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return not_there(attr, context);
    case EOPNOTSUPP:
      if (attr.precise_ip > 0)
        return {Code::kUnsupported, "this CPU does not count it precisely", "leave ':p' out"};
      return not_there(attr, context);
    case ESRCH:
      return {Code::kNotFound, "there is no process " + std::to_string(target.pid), ""};
    case EMFILE:
      return {Code::kIo, "too many files are open: every event needs one for each thread",
              "ulimit -n 65536"};
    case ENFILE:
      return {Code::kIo, "the machine has too many files open", as_root("sysctl fs.file-max")};
    case EBUSY:
      return {Code::kIo, "another program holds the counters for itself", ""};
    case ENOSYS:
      return {Code::kUnsupported, "this kernel was built without performance events", ""};
    case EINVAL:
    case E2BIG:
      if (!context.hardware_counters && attr.type == PERF_TYPE_RAW) return not_there(attr, context);
      return {Code::kUnsupported, "this kernel or CPU does not know such an event", ""};
    default:
      return os_error(number, "open a performance event");
  }
}

Result<Fd> open_event(perf_event_attr& attr, const Target& target) {
  const perf_event_attr asked = attr;
  if (const int fd = try_open(attr, target); fd >= 0) return Fd(fd);
  const int number = errno;
  if (number == EACCES && asked.namespaces != 0) {  // users may count, but not hear of these
    attr.namespaces = 0;
    return open_event(attr, target);
  }
  if (may_be_a_new_setting(number, asked)) {
    for (const Strip strip : kNewest) {
      if (!strip(attr)) continue;
      if (const int fd = try_open(attr, target); fd >= 0) return Fd(fd);
    }
  }
  attr = asked;
  return refusal(number, asked, target, RefusalContext::here(target));
}

}  // namespace fathom::perf
